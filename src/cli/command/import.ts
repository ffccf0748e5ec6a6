import { createHash } from 'node:crypto';
import { join, resolve } from 'node:path';
import { defaultNames, dgraphNames, GraphsteadError } from '../../base/index.js';
import { localTarget } from '../import/local-target.js';
import { NameMap } from '../import/name-map.js';
import { format, progressBar } from '../import/progress.js';
import { remoteTarget } from '../import/remote-target.js';
import { runImport } from '../import/run.js';
import { type SourceFile, sourceFile, sourceFiles } from '../import/source.js';
import type { Target } from '../import/target.js';
import { openData } from '../open-data.js';
import { type CommonOptions, runCommand } from '../report.js';
import { storeAddress } from '../store-address.js';

interface ImportCommand extends CommonOptions {
  readonly data?: string;
  readonly store?: string;
  readonly to?: string;
  readonly schema?: string;
  readonly graphql?: string;
  readonly newUids?: boolean;
  readonly upsert?: string;
  readonly compat?: 'dgraph';
}

interface Imported {
  readonly statements: number;
  readonly leftOut: number;
  readonly nodes: number;
  /** what was taken, and is likely not as it was meant */
  readonly warnings: readonly string[];
  readonly ms: number;
  /** data directory or address */
  readonly into: string;
}

/** `graphstead import`: files into a data directory, or into a running service. */
export function importCommand(paths: readonly string[], options: ImportCommand): Promise<void> {
  return runCommand(
    options,
    () => importFiles(paths, options),
    ({ statements, leftOut, nodes, warnings, ms, into }) => {
      const rate = statements / Math.max(0.001, ms / 1000);
      const named = nodes > 0 ? `, ${nodes} named nodes` : '';
      const left = leftOut > 0 ? `, ${leftOut} of them about the service they come from and left out,` : '';
      const done = `${statements} statements${named}${left} into ${into} in ${(ms / 1000).toFixed(1)} s (${format(rate)}/s)`;
      return [done, ...warnings.map((warning) => `  ! ${warning}`)].join('\n');
    },
  );
}

async function importFiles(paths: readonly string[], options: ImportCommand): Promise<Imported> {
  const from = performance.now();
  const files = filesOf(paths, options);
  const { target, incarnation, journal, into, close } = await open(options);
  try {
    const path = join(journal, `${hashOf(files, incarnation)}.names`);
    const names = options.compat === 'dgraph' ? dgraphNames : defaultNames;
    const upsert = options.upsert === undefined ? undefined : names.stored(options.upsert);
    // what is found by its values needs no journal to be found again
    const nodes = new NameMap((count) => target.lease(count), upsert === undefined ? path : undefined);
    const progress = progressBar(files.reduce((sum, file) => sum + file.size, 0));
    const { undeclared, ...result } = await runImport({
      files,
      target,
      nodes,
      names,
      newUids: options.newUids,
      upsert,
      progress,
    });
    return { ...result, warnings: undeclared, ms: Math.round(performance.now() - from), into };
  } finally {
    await close();
  }
}

function filesOf(paths: readonly string[], { schema, graphql }: ImportCommand): readonly SourceFile[] {
  return [
    ...(schema ? [sourceFile(schema, 'schema')] : []),
    ...(graphql ? [sourceFile(graphql, 'graphql')] : []),
    ...paths.flatMap((path) => sourceFiles(path)),
  ];
}

interface Opened {
  readonly target: Target;
  /** of the store */
  readonly incarnation: string;
  /** folder of the journals of names */
  readonly journal: string;
  readonly into: string;
  close(): Promise<void>;
}

async function open({ to, data, store, compat }: ImportCommand): Promise<Opened> {
  if (to !== undefined) {
    const target = remoteTarget(to, process.env['GRAPHSTEAD_API_KEY']);
    const incarnation = await target.incarnation();
    return { target, incarnation, journal: resolve('.graphstead', 'import'), into: to, close: async () => undefined };
  }
  const address = data === undefined ? storeAddress(store) : undefined;
  const opened = await openData(data ?? join('.graphstead', 'data'), { compat, store: address }).catch(notHere);
  return {
    target: localTarget(opened),
    incarnation: opened.store.incarnation,
    journal: join(opened.directory, 'import'),
    into: opened.place,
    close: opened.close,
  };
}

/** Who has a service running wants the files in it more often than in another directory. */
function notHere(error: unknown): never {
  if (!(error instanceof GraphsteadError) || error.code !== 'STORE_LOCKED') throw error;
  const { message, fix, details } = error;
  const other = 'Or load into the service that holds it: --to http://127.0.0.1:8686, or where it answers.';
  throw new GraphsteadError('STORE_LOCKED', message, { fix: fix ? `${fix} ${other}` : other, details });
}

/**
 * One name for one set of files in one store: started again after a stop, the import finds what it gave its nodes. In another
 * store these uids may be those of other nodes.
 */
function hashOf(files: readonly SourceFile[], incarnation: string): string {
  const identity = files.map(({ path, format, size }) => `${resolve(path)} ${format} ${size}`);
  return createHash('sha256')
    .update([incarnation, ...identity].join('\n'))
    .digest('hex')
    .slice(0, 16);
}
