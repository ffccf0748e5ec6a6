import { createHash } from 'node:crypto';
import { GraphsteadError, STEP, Yielder } from '../../base/index.js';
import { convert, decodeValue, type IndexKind, isPlace, type ScalarType } from '../../values/index.js';
import type { GraphReader, Predicate, LangValue, UidList } from '../contract.js';
import { FAMILY } from '../key.js';
import { retyped } from '../retype.js';
import type { Source } from '../source.js';
import { INDEXED_BYTES, isTooLarge } from '../stage.js';
import { hexUid } from '../uid-list.js';
import { longPayloads } from './long-payload.js';
import type { Declaration } from './part.js';

/** Nodes of one predicate that are named, and predicates that are told, when stored data refuses an alter. */
export const TOLD = 10;

/** What stored values are looked for with. */
interface Looking {
  readonly reader: GraphReader;
  readonly source: Source;
  /** of work between two pauses */
  readonly yieldMs: number;
}

/**
 * Looks for stored values that do not fit a declaration. Answers INVALID_SCHEMA that names the first of their nodes.
 * @param loose as the peer, which asks only for what an index or a list needs, and does not look for what @unique forbids or what
 * has a language
 */
export async function verifyData(
  looking: Looking,
  before: Predicate,
  after: Declaration,
  loose: boolean,
): Promise<GraphsteadError | undefined> {
  const single = !before.list && !after.list && after.indexes.length === 0;
  return (
    (loose && single ? undefined : await verifyConversion(looking, before, after)) ??
    (await verifyPlaces(looking, before, after)) ??
    (await verifyTexts(looking, before, after)) ??
    (loose
      ? undefined
      : ((await verifyLanguages(looking, before, after)) ?? (await verifyUnique(looking, before, after))))
  );
}

/** Whether anything that is stored could refuse a declaration: it is looked for, and must not be written meanwhile. */
export function isVerified(before: Predicate, after: Declaration, loose: boolean): boolean {
  const single = !before.list && !after.list && after.indexes.length === 0;
  const retypes = before.type !== after.type && before.type !== 'uid' && after.type !== 'uid';
  if (retypes && !(loose && single) && !takesAll(before.type, after.type)) return true;
  const indexesPlaces = after.type === 'geo' && after.indexes.length > 0;
  if (indexesPlaces && !(before.type === 'geo' && before.indexes.length > 0)) return true;
  return !loose && ((after.unique && !before.unique) || losesLanguages(before, after));
}

/** Whether texts with a tag of language would have no name to ask for them by. A list takes them in. */
function losesLanguages(before: Predicate, after: Declaration): boolean {
  return before.lang && !after.lang && !after.list;
}

/** Indexes that keep a text, or a word of it, as one token. */
const WHOLE: ReadonlySet<IndexKind> = new Set(['exact', 'term', 'fulltext']);

/**
 * Whether a declaration puts an index over texts that may be too long for it. Texts are long so seldom that they may be written
 * meanwhile: no alter of a busy predicate is to be refused for it.
 */
export function indexesTexts(before: Predicate, after: Declaration): boolean {
  if (before.type === 'uid' || (after.type !== 'string' && after.type !== 'default')) return false;
  return after.indexes.some(({ kind }) => WHOLE.has(kind) && !before.indexes.some((one) => one.kind === kind));
}

/** Every value has a text, and every int is a number. */
function takesAll(from: string, to: string): boolean {
  return to === 'string' || to === 'default' || (from === 'int' && (to === 'float' || to === 'bigfloat'));
}

/** What `misfit` says of the values that do not fit, each once: as many as are told, and that there are others. */
async function misfits(
  { reader, yieldMs }: Looking,
  predicate: Predicate,
  misfit: (uid: number, value: LangValue) => string | undefined,
  pages: AsyncIterable<UidList> = reader.having(predicate),
): Promise<readonly string[]> {
  const told = new Set<string>();
  const yielder = new Yielder(yieldMs);
  for await (const uids of pages) {
    await yielder.due();
    const all = await reader.allValues(predicate, uids);
    for (const [i, values] of all.entries()) {
      if (i % STEP === STEP - 1) await yielder.due();
      for (const value of values) {
        const one = misfit(uids[i], value);
        if (one === undefined || told.has(one)) continue;
        if (told.size === TOLD) return [...told, 'others'];
        told.add(one);
      }
    }
  }
  return [...told];
}

function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join() : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

async function verifyConversion(
  looking: Looking,
  before: Predicate,
  after: Declaration,
): Promise<GraphsteadError | undefined> {
  if (before.type === after.type || before.type === 'uid' || after.type === 'uid') return undefined;
  const to = after.type;
  const nodes = await misfits(looking, before, (uid, { value }) =>
    isConvertible(value, to) ? undefined : hexUid(uid),
  );
  if (nodes.length === 0) return undefined;
  const values = nodes.length === 1 ? 'value' : 'values';
  return new GraphsteadError(
    'INVALID_SCHEMA',
    `the ${values} of ${before.name} of ${listed(nodes)} cannot become ${after.type}`,
    { fix: `Change or delete the values that do not fit, or drop ${before.name} first.` },
  );
}

function isConvertible(stored: Uint8Array, to: ScalarType): boolean {
  try {
    convert(decodeValue(stored), to);
    return true;
  } catch {
    return false;
  }
}

/** Geometries that the geo index cannot hold, before one is built. */
async function verifyPlaces(
  looking: Looking,
  before: Predicate,
  after: Declaration,
): Promise<GraphsteadError | undefined> {
  if (after.type !== 'geo' || after.indexes.length === 0 || before.type === 'uid') return undefined;
  if (before.type === 'geo' && before.indexes.length > 0) return undefined;
  const found = await misfits(looking, before, (uid, { value }) => {
    const geometry = retyped(value, 'geo');
    const stored = geometry && decodeValue(geometry);
    if (stored?.type !== 'geo' || isPlace(stored.value)) return undefined;
    return `the ${stored.value.type} of ${hexUid(uid)}`;
  });
  if (found.length === 0) return undefined;
  return new GraphsteadError('INVALID_SCHEMA', `the index of ${before.name} cannot hold ${listed(found)}`, {
    fix: 'Keep points, polygons and multipolygons in a predicate of their own, and put the index there.',
  });
}

/** Texts that are too long for an index, before it is built: a mutation that sets one is refused under it, and an import too. */
async function verifyTexts(
  looking: Looking,
  before: Predicate,
  after: Declaration,
): Promise<GraphsteadError | undefined> {
  if (!indexesTexts(before, after)) return undefined;
  const { source, yieldMs } = looking;
  const bytes = INDEXED_BYTES - before.name.length;
  async function* long(): AsyncIterable<UidList> {
    for (const family of [FAMILY.value, FAMILY.lang, FAMILY.member]) {
      yield* longPayloads(source, before.id, family, bytes, yieldMs);
    }
  }
  const misfit = (uid: number, { value }: LangValue): string | undefined => {
    const text = retyped(value, after.type as ScalarType);
    return text && isTooLarge(after, decodeValue(text), text.length) ? hexUid(uid) : undefined;
  };
  const found = await misfits(looking, before, misfit, long());
  if (found.length === 0) return undefined;
  const values = found.length === 1 ? 'value' : 'values';
  return new GraphsteadError(
    'INVALID_SCHEMA',
    `the index of ${before.name} cannot hold the ${values} of ${listed(found)}`,
    {
      fix: `Under exact, term and fulltext a text or a word of it may have ${INDEXED_BYTES} bytes: use hash or trigram, or shorten what is longer.`,
    },
  );
}

/**
 * Texts in languages, before @lang is taken away: nobody could read them any more, while the index would go on finding their nodes
 * by them.
 */
async function verifyLanguages(
  looking: Looking,
  before: Predicate,
  after: Declaration,
): Promise<GraphsteadError | undefined> {
  if (!losesLanguages(before, after)) return undefined;
  const found = await misfits(looking, before, (uid, { lang }) =>
    lang === '' ? undefined : `the ${before.name}@${lang} of ${hexUid(uid)}`,
  );
  if (found.length === 0) return undefined;
  return new GraphsteadError('INVALID_SCHEMA', `without @lang nothing could ask for ${listed(found)}`, {
    fix: `Declare ${before.name} with @lang, or delete the texts in languages first.`,
  });
}

/** Nodes with one value, before @unique is put over them. */
async function verifyUnique(
  looking: Looking,
  before: Predicate,
  after: Declaration,
): Promise<GraphsteadError | undefined> {
  if (before.unique || !after.unique) return undefined;
  const holders = new Map<string, number>();
  const pairs = await misfits(looking, before, (uid, { lang, value }) => {
    const key = `${lang}\n${createHash('sha256').update(value).digest('base64url')}`;
    const other = holders.get(key);
    holders.set(key, uid);
    return other === undefined || other === uid ? undefined : `${hexUid(other)} and ${hexUid(uid)}`;
  });
  if (pairs.length === 0) return undefined;
  return new GraphsteadError(
    'INVALID_SCHEMA',
    `${pairs.join(', ')} have the same ${before.name}, which @unique forbids`,
    {
      fix: 'Change or delete one of the values first.',
    },
  );
}
