import { chain, type MaybePromise } from '../base/index.js';
import type { Key } from '../store/index.js';
import { chunkKey, chunkRange, metaRange, ordinalOfRecord } from './key.js';
import { type PutKey, readRange, type Source } from './source.js';

/** Bytes of one chunk of a text. */
const CHUNK_BYTES = 3_800;

/** Chunks that a text takes. */
export function textChunks(text: string | undefined): number {
  return text === undefined ? 0 : Math.max(1, Math.ceil(Buffer.byteLength(text) / CHUNK_BYTES));
}

/** Puts a text under a record's key, or takes it away; `before` is how many chunks it had. */
export function putText(record: Key, text: string | undefined, before: number, put: PutKey): void {
  const bytes = Buffer.from(text ?? '', 'utf8');
  const after = textChunks(text);
  for (let i = 0; i < Math.max(after, before); i++) {
    const chunk = i < after ? bytes.subarray(i * CHUNK_BYTES, (i + 1) * CHUNK_BYTES) : undefined;
    put(chunkKey(record, i), chunk);
  }
}

/** The text of one record. */
export function readText(source: Source, record: Key): MaybePromise<string | undefined> {
  return chain(readRange(source, chunkRange(record)), ({ values }) =>
    values.length === 0 ? undefined : Buffer.concat(values).toString('utf8'),
  );
}

/** The texts of all records of a kind. */
export function readTexts(source: Source, kind: number): MaybePromise<string[]> {
  return chain(readRange(source, metaRange(kind)), ({ keys, values }) => {
    const records: Uint8Array[][] = [];
    keys.forEach((key, i) => {
      if (ordinalOfRecord(key, kind) === 0) records.push([]);
      records[records.length - 1].push(values[i]);
    });
    return records.map((chunks) => Buffer.concat(chunks).toString('utf8'));
  });
}
