import { createReadStream, statSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { GraphsteadError } from '../../base/index.js';

export type FileFormat = 'rdf' | 'json' | 'schema' | 'graphql';

/** One file to import, told by its name: .rdf .nq .nt .json .schema .graphql, each also with .gz. */
export interface SourceFile {
  readonly path: string;
  readonly format: FileFormat;
  readonly gzip: boolean;
  /** bytes on disk */
  readonly size: number;
}

const FORMATS: Readonly<Record<string, FileFormat>> = {
  rdf: 'rdf',
  nq: 'rdf',
  nt: 'rdf',
  nquads: 'rdf',
  json: 'json',
  ndjson: 'json',
  schema: 'schema',
  graphql: 'graphql',
  gql_schema: 'graphql',
};

/** Throws INVALID_REQUEST on a name that tells no format, and on a file that is not there. */
export function sourceFile(path: string): SourceFile {
  const gzip = path.endsWith('.gz');
  const name = gzip ? path.slice(0, -3) : path;
  const format = FORMATS[name.slice(name.lastIndexOf('.') + 1).toLowerCase()];
  if (!format) {
    throw new GraphsteadError('INVALID_REQUEST', `${path}: the name tells no format`, {
      fix: 'name the file .rdf, .nq, .json, .schema or .graphql, with or without .gz',
    });
  }
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats?.isFile()) throw new GraphsteadError('INVALID_REQUEST', `${path} is no file`, { fix: 'check the path' });
  return { path, format, gzip, size: stats.size };
}

/** Pieces of the file's text as they are read; `onRead` hears of bytes on disk. Lines are never cut inside a character. */
async function* pieces(file: SourceFile, onRead: (bytes: number) => void): AsyncIterable<string> {
  const raw = createReadStream(file.path, { highWaterMark: 1024 * 1024 });
  raw.on('data', (chunk) => onRead(chunk.length));
  const stream: Readable = file.gzip ? raw.pipe(createGunzip()) : raw;
  raw.on('error', (error) => stream.destroy(error));
  const decoder = new TextDecoder();
  for await (const chunk of stream) yield decoder.decode(chunk as Buffer, { stream: true });
  yield decoder.decode();
}

/** The file's lines, many at a time. */
export async function* lineBatches(
  file: SourceFile,
  onRead: (bytes: number) => void,
): AsyncIterable<readonly string[]> {
  let rest = '';
  for await (const piece of pieces(file, onRead)) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    if (lines.length > 0) yield lines;
  }
  if (rest !== '') yield [rest];
}

/** The file's whole text: schemas and type definitions. */
export async function wholeText(file: SourceFile): Promise<string> {
  let text = '';
  for await (const piece of pieces(file, () => undefined)) text += piece;
  return text;
}

const MAX_OBJECT = 64 * 1024 * 1024;

/**
 * Texts of the top-level objects of a JSON file: one array of objects, or objects one after another.
 * Each text is a whole object; what lies between is skipped. Throws SYNTAX on an object that does not end.
 */
export async function* jsonObjects(file: SourceFile, onRead: (bytes: number) => void): AsyncIterable<string> {
  let text = '';
  let start = -1;
  let at = 0;
  let depth = 0;
  let inString = false;
  for await (const piece of pieces(file, onRead)) {
    text += piece;
    for (; at < text.length; at++) {
      const c = text.charCodeAt(at);
      if (inString) {
        if (c === 0x5c) at++;
        else if (c === 0x22) inString = false;
      } else if (c === 0x22) inString = depth > 0;
      else if (c === 0x7b && depth++ === 0) start = at;
      else if (c === 0x7d && depth > 0 && --depth === 0) {
        yield text.slice(start, at + 1);
        start = -1;
      }
    }
    const keep = start === -1 ? text.length : start;
    text = text.slice(keep);
    at -= keep;
    if (start !== -1) start = 0;
    if (text.length > MAX_OBJECT) break;
  }
  if (start !== -1) {
    throw new GraphsteadError('SYNTAX', `${file.path}: an object does not end within ${MAX_OBJECT} characters`, {
      fix: 'check its closing bracket, or split it',
    });
  }
}
