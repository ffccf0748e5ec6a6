import { createReadStream, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { codeOf, GraphsteadError } from '../../base/index.js';

type FileFormat = 'rdf' | 'json' | 'schema' | 'graphql';

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

/**
 * Throws INVALID_REQUEST on a name that tells no format, and on a file that is not there.
 * @param as the format, whatever the name says
 */
export function sourceFile(path: string, as?: FileFormat): SourceFile {
  const format = as ?? formatOf(path);
  if (!format) {
    throw new GraphsteadError('INVALID_REQUEST', `${path}: the name tells no format`, {
      fix: 'name the file .rdf, .nq, .json, .schema or .graphql, with or without .gz',
    });
  }
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats?.isFile()) throw new GraphsteadError('INVALID_REQUEST', `${path} is no file`, { fix: 'check the path' });
  return { path, format, gzip: path.endsWith('.gz'), size: stats.size };
}

function formatOf(path: string): FileFormat | undefined {
  const name = path.endsWith('.gz') ? path.slice(0, -3) : path;
  return FORMATS[name.slice(name.lastIndexOf('.') + 1).toLowerCase()];
}

/** The file, or what a folder holds of files whose names tell a format, by name. Throws INVALID_REQUEST where there are none. */
export function sourceFiles(path: string): readonly SourceFile[] {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return [sourceFile(path)];
  const names = readdirSync(path).filter((name) => formatOf(name) !== undefined);
  if (names.length > 0) return names.sort().map((name) => sourceFile(join(path, name)));
  throw new GraphsteadError('INVALID_REQUEST', `${path} holds no file to import`, {
    fix: 'name the folder that an export made, or its files',
  });
}

/** Pieces of the file's text as they are read; `onRead` hears of bytes on disk. Lines are never cut inside a character. */
async function* pieces(file: SourceFile, onRead: (bytes: number) => void): AsyncIterable<string> {
  const raw = createReadStream(file.path, { highWaterMark: 1024 * 1024 });
  raw.on('data', (chunk) => onRead(chunk.length));
  const stream: Readable = file.gzip ? raw.pipe(createGunzip()) : raw;
  raw.on('error', (error) => stream.destroy(error));
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    for await (const chunk of stream) yield decoder.decode(chunk as Buffer, { stream: true });
    yield decoder.decode();
  } catch (error) {
    throw unreadable(file, error);
  }
}

function unreadable(file: SourceFile, error: unknown): unknown {
  const code = codeOf(error);
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') {
    const fix = 'save it as UTF-8, or gzip it under a name that ends in .gz';
    return new GraphsteadError('INVALID_REQUEST', `${file.path}: the text is not valid UTF-8`, { fix });
  }
  if (!code?.startsWith('Z_')) return error;
  const fix = 'fetch the file again; it is cut short, or no gzip file';
  return new GraphsteadError('INVALID_REQUEST', `${file.path}: ${(error as Error).message}`, { fix });
}

/** Lines that are handed out at a time: few enough that what is made of them dies young. */
const LINES = 1_000;

/** The file's lines, many at a time. */
export async function* lineBatches(
  file: SourceFile,
  onRead: (bytes: number) => void,
): AsyncIterable<readonly string[]> {
  let rest = '';
  for await (const piece of pieces(file, onRead)) {
    const text = rest === '' ? piece : rest + piece;
    let at = 0;
    for (let lines: string[] = []; ; lines = []) {
      let end = 0;
      while (lines.length < LINES) {
        end = text.indexOf('\n', at);
        if (end === -1) break;
        lines.push(text.slice(at, end));
        at = end + 1;
      }
      if (lines.length > 0) yield lines;
      if (end === -1) break;
    }
    rest = text.slice(at);
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

/** One top-level object of a JSON file. */
export interface JsonObject {
  readonly text: string;
  /** line of the file on which it begins, from 1 */
  readonly line: number;
}

/**
 * The top-level objects of a JSON file: one array of objects, or objects one after another.
 * Throws SYNTAX on an object or a list that does not end, and on anything else that stands between objects.
 */
export async function* jsonObjects(file: SourceFile, onRead: (bytes: number) => void): AsyncIterable<JsonObject> {
  const cutter = new ObjectCutter(file);
  for await (const piece of pieces(file, onRead)) yield* cutter.feed(piece);
  cutter.end();
}

/** Finds where objects begin and end, looking at every character once. */
class ObjectCutter {
  readonly #file: SourceFile;
  #text = '';
  #at = 0;
  /** offset at which the object under way begins, -1 between objects */
  #start = -1;
  #startLine = 1;
  #line = 1;
  #depth = 0;
  #inString = false;
  /** line on which the list begins that is under way, 0 outside of one */
  #listLine = 0;

  constructor(file: SourceFile) {
    this.#file = file;
  }

  *feed(piece: string): Iterable<JsonObject> {
    this.#text += piece;
    for (; this.#at < this.#text.length; this.#at++) {
      const c = this.#text.charCodeAt(this.#at);
      if (c === 0x0a) this.#line++;
      if (this.#inString) this.#string(c);
      else if (this.#depth === 0) this.#between(c);
      else if (c === 0x22) this.#inString = true;
      else if (c === 0x7b) this.#depth++;
      else if (c === 0x7d && --this.#depth === 0) {
        yield { text: this.#text.slice(this.#start, this.#at + 1), line: this.#startLine };
        this.#start = -1;
      }
    }
    this.#forget();
  }

  #string(c: number): void {
    if (c === 0x5c) this.#at++;
    else if (c === 0x22) this.#inString = false;
  }

  #between(c: number): void {
    if (c === 0x7b) {
      this.#depth = 1;
      this.#start = this.#at;
      this.#startLine = this.#line;
    } else if (c === 0x5b && this.#listLine === 0) this.#listLine = this.#line;
    else if (c === 0x5d && this.#listLine !== 0) this.#listLine = 0;
    else if (c > 0x20 && c !== 0x2c && c !== 0xfeff) {
      throw this.#wrong(`"${String.fromCharCode(c)}" stands where an object should`, 'write a list of JSON objects');
    }
  }

  /** What was handed out is not kept. */
  #forget(): void {
    const kept = this.#start === -1 ? Math.min(this.#at, this.#text.length) : this.#start;
    this.#text = this.#text.slice(kept);
    this.#at -= kept;
    if (this.#start !== -1) this.#start = 0;
    if (this.#text.length > MAX_OBJECT) throw this.#endless();
  }

  end(): void {
    if (this.#start !== -1) throw this.#endless();
    if (this.#listLine === 0) return;
    // behind a whole object too: what was lost of such a file nobody would miss
    throw this.#wrong(
      'a list does not end',
      'fetch the file again, it is cut short; or close it with "]"',
      this.#listLine,
    );
  }

  #endless(): GraphsteadError {
    return this.#wrong('an object does not end', `check its brackets; an object has at most ${MAX_OBJECT} characters`);
  }

  #wrong(message: string, fix: string, line = this.#start === -1 ? this.#line : this.#startLine): GraphsteadError {
    return new GraphsteadError('SYNTAX', message, { position: { line, column: 1, source: this.#file.path }, fix });
  }
}
