import { createHash } from 'node:crypto';
import { GraphsteadError, type Names, type Position } from '../../base/index.js';
import { nquadLineParser, parseJsonTriples, type Triple } from '../../dql/index.js';
import type { TakeNamespace } from './one-namespace.js';
import { type JsonObject, jsonObjects, lineBatches, type SourceFile } from './source.js';

export interface Reading {
  readonly names: Names;
  readonly onNamespace: TakeNamespace;
}

/** Statements of one file, some at a time, as they are read. Mistakes have the line of the file. */
export async function* triplesOf(
  file: SourceFile,
  reading: Reading,
  onRead: (bytes: number) => void,
): AsyncIterable<readonly Triple[]> {
  if (file.format === 'rdf') yield* quads(file, reading, onRead);
  if (file.format === 'json') yield* objects(file, reading, onRead);
}

async function* quads(file: SourceFile, reading: Reading, onRead: (bytes: number) => void): AsyncIterable<Triple[]> {
  const parse = nquadLineParser({ source: file.path, otherUids: true, ...reading });
  let number = 0;
  for await (const lines of lineBatches(file, onRead)) {
    const triples: Triple[] = [];
    for (const line of lines) {
      const triple = parse(line, ++number);
      if (triple) triples.push(triple);
    }
    yield triples;
  }
}

/** Statements of objects that are handed out at a time: what is asked for each time, such as their nodes, is asked for many. */
const TRIPLES = 1_000;
const UNNAMED = 'json.';
const HEX = 12;

/** Whether it is the name of a node to which its file gave none. */
export function isUnnamed(blank: string): boolean {
  return UNNAMED_NAME.test(blank);
}
const UNNAMED_NAME = new RegExp(`^json\\.[0-9a-f]{${HEX}}\\.\\d+\\.`);

async function* objects(file: SourceFile, reading: Reading, onRead: (bytes: number) => void): AsyncIterable<Triple[]> {
  // The same file gives nodes without a uid the same names, so that an import can go on where it stopped.
  const prefix = `${UNNAMED}${createHash('sha256').update(file.path).digest('hex').slice(0, HEX)}`;
  let count = 0;
  let triples: Triple[] = [];
  for await (const object of jsonObjects(file, onRead)) {
    const blankPrefix = `${prefix}.${++count}`;
    for (const triple of parseObject(object, { ...reading, otherUids: true, source: file.path, blankPrefix })) {
      triples.push(triple);
    }
    if (triples.length < TRIPLES) continue;
    yield triples;
    triples = [];
  }
  yield triples;
}

function parseObject({ text, line }: JsonObject, options: Parameters<typeof parseJsonTriples>[1]): Triple[] {
  const shift = (position: Position): Position => ({ ...position, line: position.line + line - 1 });
  try {
    const triples = parseJsonTriples(text, options);
    const source = options?.source;
    return triples.map((triple) => ({ ...triple, position: { source, ...shift(triple.position) } }));
  } catch (error) {
    if (!(error instanceof GraphsteadError)) throw error;
    const { code, message, fix, position, details } = error;
    const shifted = shift(position ?? { line: 1, column: 1, source: options?.source });
    throw new GraphsteadError(code, message, { fix, details, position: shifted, cause: error });
  }
}
