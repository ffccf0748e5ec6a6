import { createWriteStream, existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { GraphsteadError, makePrivateFolder } from '../../base/index.js';
import { copyFailure } from '../../store/index.js';
import type { ExportPart } from './part.js';

export interface Exported {
  readonly files: readonly string[];
  readonly statements: number;
}

/**
 * Writes an export's files, gzipped, into a folder; a file has its name once it is whole. Throws INVALID_REQUEST when one of
 * them is there already, DISK_FULL, and CONFIG where the folder cannot be written to.
 */
export async function writeParts(
  parts: AsyncIterable<ExportPart>,
  directory: string,
  onStatements: (count: number) => void = () => undefined,
): Promise<Exported> {
  makeFolder(directory);
  const files: string[] = [];
  let statements = 0;
  const walk = parts[Symbol.asyncIterator]();
  let next = await walk.next();
  while (!next.done) {
    const { file } = next.value;
    const path = join(directory, `${file}.gz`);
    refuseOverwrite(path);
    const text = async function* () {
      for (; !next.done && next.value.file === file; next = await walk.next()) {
        statements += next.value.statements;
        onStatements(statements);
        yield next.value.text;
      }
    };
    await writeWhole(path, text());
    files.push(path);
  }
  return { files, statements };
}

function makeFolder(directory: string): void {
  try {
    makePrivateFolder(directory);
  } catch (thrown) {
    throw copyFailure(thrown, `${directory} cannot be made`, directory);
  }
}

async function writeWhole(path: string, text: AsyncIterable<string>): Promise<void> {
  const partial = `${path}.partial`;
  try {
    await pipeline(Readable.from(text), createGzip({ level: 5 }), createWriteStream(partial));
    await rename(partial, path);
  } catch (thrown) {
    await rm(partial, { force: true });
    throw copyFailure(thrown, `${path} could not be written`, dirname(path));
  }
}

function refuseOverwrite(path: string): void {
  if (!existsSync(path)) return;
  throw new GraphsteadError('INVALID_REQUEST', `${path} exists already`, { fix: 'name a new folder for each export' });
}
