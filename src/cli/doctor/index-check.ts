import { codeOf, type MaybePromise } from '../../base/index.js';
import {
  type GraphReader,
  hasUid,
  hexUid,
  type IndexSpec,
  type LangValue,
  type Predicate,
  sampleOf,
  type UidList,
} from '../../graph/index.js';
import { decodeValue, isHashedToken, tokensOf } from '../../values/index.js';

/** nodes of each predicate, and tokens of each index, that are looked at */
const SAMPLE = 500;

/** Looks from data to indexes and back, on samples. Each text says what does not agree. */
export async function* checkIndexes(reader: GraphReader): AsyncIterable<string> {
  for (const predicate of reader.schema.predicates) {
    const uids = await sampleOf(reader, predicate, SAMPLE);
    if (uids.length === 0) continue;
    if (predicate.type === 'uid') yield* checkEdges(reader, predicate, uids);
    else yield* checkValues(reader, predicate, uids);
  }
}

async function* checkEdges(reader: GraphReader, predicate: Predicate, uids: UidList): AsyncIterable<string> {
  const { rows } = await reader.edges(predicate, uids);
  for (const [i, row] of rows.entries()) {
    if (predicate.reverse && row.length > 0) {
      const objects = row.subarray(0, SAMPLE);
      const back = await built(() => reader.edges(predicate, objects, { reverse: true }));
      for (const [j, subjects] of (back?.rows ?? []).entries()) {
        if (!hasUid(subjects, uids[i])) yield `~${predicate.name} of ${hexUid(objects[j])} lacks ${hexUid(uids[i])}`;
      }
    }
    const counted = predicate.count && (await built(() => reader.byCount(predicate, row.length, row.length)));
    if (counted && !hasUid(counted, uids[i])) {
      yield `count(${predicate.name}) of ${hexUid(uids[i])} is not ${row.length} in its index`;
    }
  }
}

/** undefined where it is being built, as a crash or a copy in the middle of that leaves it: it goes on at the next start. */
async function built<T>(read: () => MaybePromise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (thrown) {
    if (codeOf(thrown) !== 'INDEX_BUILDING') throw thrown;
    return undefined;
  }
}

async function* checkValues(reader: GraphReader, predicate: Predicate, uids: UidList): AsyncIterable<string> {
  const rows = await reader.allValues(predicate, uids);
  for (const index of predicate.indexes) {
    // The entries of hnsw are a graph of their own, without tokens.
    if (!index.ready || index.kind === 'hnsw') continue;
    yield* checkFromData(reader, predicate, index, { uids, rows });
    yield* checkFromIndex(reader, predicate, index);
  }
}

interface Sampled {
  readonly uids: UidList;
  readonly rows: readonly (readonly LangValue[])[];
}

async function* checkFromData(
  reader: GraphReader,
  predicate: Predicate,
  { kind }: IndexSpec,
  { uids, rows }: Sampled,
): AsyncIterable<string> {
  for (const [i, row] of rows.entries()) {
    const tokens = tokensIn(row, kind);
    const postings = await reader.postings(predicate, kind, tokens);
    if (postings.some((list) => !hasUid(list, uids[i]))) {
      yield `the ${kind} index of ${predicate.name} lacks ${hexUid(uids[i])}`;
    }
  }
}

async function* checkFromIndex(reader: GraphReader, predicate: Predicate, { kind }: IndexSpec): AsyncIterable<string> {
  let seen = 0;
  for await (const page of reader.tokens(predicate, kind, { limit: SAMPLE })) {
    for (const { token, uids } of page) {
      if (++seen > SAMPLE) return;
      const some = uids.subarray(0, 16);
      const rows = await reader.allValues(predicate, some);
      for (const [i, row] of rows.entries()) {
        const has = tokensIn(row, kind).some((one) => Buffer.compare(one, token) === 0 || isHashedToken(token));
        if (!has)
          yield `the ${kind} index of ${predicate.name} names ${hexUid(some[i])}, whose value has no such token`;
      }
    }
  }
}

function tokensIn(row: readonly LangValue[], kind: IndexSpec['kind']): readonly Uint8Array[] {
  return row.flatMap(({ value, lang }) => tokensOf(kind, decodeValue(value), lang));
}
