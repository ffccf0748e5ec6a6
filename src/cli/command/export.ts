import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { join, resolve } from 'node:path';
import { GraphsteadError, type WireError } from '../../base/index.js';
import { type Exported, type ExportFormat, type ExportPart, exportParts, writeParts } from '../../server/index.js';
import { progressCount } from '../import/progress.js';
import { openData } from '../open-data.js';
import { fromWire, remoteService } from '../remote-service.js';
import { type CommonOptions, runCommand } from '../report.js';
import { storeAddress } from '../store-address.js';

interface ExportCommand extends CommonOptions {
  readonly data?: string;
  readonly store?: string;
  readonly from?: string;
  readonly out: string;
  readonly format: ExportFormat;
  readonly compat?: 'dgraph';
}

/** `graphstead export`: a data directory, or what a service holds, as files that import reads. */
export function exportCommand(options: ExportCommand): Promise<void> {
  const run = () => (options.from === undefined ? exportData(options) : exportService(options.from, options));
  return runCommand(options, run, ({ files, statements }) => {
    return `${statements} statements\n${files.map((file) => `  ${file}`).join('\n')}`;
  });
}

async function exportData({ data, store, out, format, compat }: ExportCommand): Promise<Exported> {
  const address = data === undefined ? storeAddress(store) : undefined;
  const opened = await openData(data ?? join('.graphstead', 'data'), { compat, store: address, readOnly: true });
  try {
    const { graph, names, api } = opened;
    return await write(exportParts({ graph, names, format, graphql: api.stored()?.text }), out);
  } finally {
    await opened.close();
  }
}

async function exportService(url: string, { out, format }: ExportCommand): Promise<Exported> {
  const service = remoteService(url, process.env['GRAPHSTEAD_API_KEY']);
  const response = await service.get(`/admin/export?format=${format}`);
  return write(received(response, url), out);
}

/** The parts that a service sends; throws when they end before the last. */
async function* received(response: Response, url: string): AsyncIterable<ExportPart> {
  const input = Readable.fromWeb(response.body as Parameters<typeof Readable.fromWeb>[0]);
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    const part = JSON.parse(line) as ExportPart & { done?: true; errors?: readonly WireError[] };
    if (part.errors) throw fromWire(part.errors[0], 500);
    if (part.done) return;
    yield part;
  }
  throw new GraphsteadError('REMOTE_REPLY', `${url} ended before the export was complete`, { fix: 'export again' });
}

async function write(parts: AsyncIterable<ExportPart>, out: string): Promise<Exported> {
  const progress = progressCount();
  try {
    return await writeParts(parts, resolve(out), (count) => progress.update(0, count));
  } finally {
    progress.finish();
  }
}
