import { latin1 } from '../../base/index.js';
import { bigFloatBytes } from '../bigfloat.js';
import type { IndexKind, Tokenizer, TypeName, Value } from '../contract.js';
import { convert } from '../convert.js';
import { utcParts } from '../date-time.js';
import { invalidValue } from '../failure.js';
import { isPlace } from '../geo/geojson.js';
import { geometryTokens } from '../geo/token.js';
import { stemmedWords, stemPieces } from '../language/full-text.js';
import { ngramPieces, ngramQuery, ngramsOf } from '../language/ngram.js';
import { PIECE } from '../language/piece.js';
import { distinct, wordPieces, wordsOf } from '../language/word.js';
import { compareBytes, floatBytes, integerBytes } from '../ordered-bytes.js';
import { utf8Bytes } from '../utf8.js';
import { fitToken, hash64, TOKEN_BYTES } from './hash.js';

interface Definition extends Tokenizer {
  /** tokens of a value of one of `types`; for text kinds in any order, repeats allowed */
  readonly index: (value: Value, lang: string) => readonly Uint8Array[];
  /** tokens of a function's argument, where they differ */
  readonly query?: (value: Value, lang: string) => readonly Uint8Array[];
  /** texts of the tokens of a text, in any order, repeats allowed */
  readonly split?: (written: string, lang: string) => readonly string[];
  /** texts of the tokens of a long text, a piece of it at a time; repeats allowed */
  readonly pieces?: (written: string, lang: string) => Iterable<readonly string[]>;
}

const TEXT: readonly TypeName[] = ['string', 'default'];
const TRIGRAM = 3;
const SURROGATE = /[\ud800-\udfff]/;

const DEFINITIONS: readonly Definition[] = [
  { ...text('term', { lossy: true }, wordsOf), pieces: wordPieces },
  { ...text('exact', { sortable: true }, (written) => [written]) },
  { kind: 'hash', types: TEXT, sortable: false, lossy: true, index: (value) => [hash64(textBytes(value))] },
  { ...text('trigram', { lossy: true }, trigramRuns), pieces: trigramPieces },
  { ...text('fulltext', { lossy: true }, stemmedWords), pieces: stemPieces },
  { ...text('ngram', { lossy: true }, ngramsOf), query: texts(ngramQuery), pieces: ngramPieces },
  scalar('int', 'int', false, (value) => (value.type === 'int' ? integerBytes(value.value) : undefined)),
  scalar('float', 'float', false, (value) => (value.type === 'float' ? floatBytes(value.value) : undefined)),
  scalar('bool', 'bool', false, (value) => (value.type === 'bool' ? Uint8Array.of(value.value ? 1 : 0) : undefined)),
  scalar('bigfloat', 'bigfloat', false, (value) =>
    value.type === 'bigfloat' ? bigFloatBytes(value.value) : undefined,
  ),
  calendar('year', (parts) => parts.year),
  calendar('month', (parts) => parts.year * 12 + parts.month),
  calendar('day', (parts) => parts.days),
  calendar('hour', (parts) => parts.hours),
  {
    kind: 'geo',
    types: ['geo'],
    sortable: false,
    lossy: true,
    index: (value) => (value.type === 'geo' && isPlace(value.value) ? geometryTokens(value.value) : []),
  },
  // its entries are a graph of their own
  { kind: 'hnsw', types: ['float32vector'], sortable: false, lossy: true, index: () => [] },
];

const BY_KIND = new Map(DEFINITIONS.map((definition) => [definition.kind, definition]));

function text(
  kind: IndexKind,
  flags: { readonly sortable?: boolean; readonly lossy?: boolean },
  split: (written: string, lang: string) => readonly string[],
): Definition {
  return {
    kind,
    types: TEXT,
    sortable: flags.sortable ?? false,
    lossy: flags.lossy ?? false,
    index: texts(split),
    split,
  };
}

function texts(split: (written: string, lang: string) => readonly string[]): Definition['index'] {
  return (value, lang) => [...new Set(split(String(value.value), lang))].map((token) => utf8Bytes(token));
}

function scalar(
  kind: IndexKind,
  type: TypeName,
  lossy: boolean,
  encode: (value: Value) => Uint8Array | undefined,
): Definition {
  const index: Definition['index'] = (value) => {
    const token = encode(value);
    return token ? [token] : [];
  };
  return { kind, types: [type], sortable: true, lossy, index };
}

function calendar(kind: IndexKind, pick: (parts: ReturnType<typeof utcParts>) => number): Definition {
  return scalar(kind, 'datetime', true, (value) =>
    value.type === 'datetime' ? integerBytes(pick(utcParts(value.value))) : undefined,
  );
}

function textBytes(value: Value): Uint8Array {
  return utf8Bytes(String(value.value));
}

/** Every run of three characters, distinct and ascending. */
export function trigramsOf(written: string): string[] {
  return distinct(trigramRuns(written));
}

/** Every run of three characters, in order. */
function trigramRuns(written: string): string[] {
  const runs: string[] = [];
  if (!SURROGATE.test(written)) {
    for (let at = TRIGRAM; at <= written.length; at++) runs.push(written.substring(at - TRIGRAM, at));
    return runs;
  }
  const characters = [...written];
  for (let at = TRIGRAM; at <= characters.length; at++) runs.push(characters.slice(at - TRIGRAM, at).join(''));
  return runs;
}

/** The same of a long text, a piece of it at a time: each with the two characters behind it. */
function* trigramPieces(written: string): Generator<readonly string[], void> {
  for (let from = 0; from < written.length; ) {
    const to = characterEnd(written, from + PIECE - 1);
    yield trigramRuns(written.slice(from, characterEnd(written, characterEnd(written, to))));
    from = to;
  }
}

/** Where the character at a place ends. */
function characterEnd(written: string, at: number): number {
  return at + ((written.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);
}

/** The bytes under which the trigram index keeps a trigram. */
export function trigramToken(trigram: string): Uint8Array {
  return utf8Bytes(trigram);
}

/** What an index kind does and what it applies to. */
export function tokenizer(kind: IndexKind): Tokenizer {
  return definition(kind);
}

function definition(kind: IndexKind): Definition {
  const found = BY_KIND.get(kind);
  if (!found) throw invalidValue(`${kind} is not a kind of index`, `Use one of ${[...BY_KIND.keys()].join(', ')}.`);
  return found;
}

/** An index kind by its name in a schema, in any case. `sha256`, which the peer's exports have, is `hash`: it finds the same. */
export function indexKindNamed(name: string): IndexKind | undefined {
  const lower = name.toLowerCase();
  const kind = (lower === 'sha256' ? 'hash' : lower) as IndexKind;
  return BY_KIND.has(kind) ? kind : undefined;
}

/** The kinds of index that values of a type can have. */
export function indexKindsOf(type: TypeName): readonly IndexKind[] {
  return DEFINITIONS.filter(({ types }) => types.includes(type)).map(({ kind }) => kind);
}

/**
 * The tokens under which an index keeps a value, distinct and ascending. A value of another type is converted first
 * (INVALID_VALUE where it cannot be). Tokens over TOKEN_BYTES are cut and hashed.
 */
export function tokensOf(kind: IndexKind, value: Value, lang = ''): Uint8Array[] {
  const found = definition(kind);
  return finished(found.index(typed(found, value), lang));
}

/**
 * The tokens of tokensOf as texts, one character a byte, in no order and some of them repeatedly: most words and trigrams are
 * such texts as they are, and need not be made bytes.
 */
export function tokenTexts(kind: IndexKind, value: Value, lang = ''): readonly string[] {
  const found = definition(kind);
  const own = typed(found, value);
  if (!found.split) return found.index(own, lang).map((token) => latin1(fitToken(token)));
  return found.split(String(own.value), lang).map((token) => {
    return token.length <= TOKEN_BYTES && isAscii(token) ? token : latin1(fitToken(utf8Bytes(token)));
  });
}

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) return false;
  return true;
}

/** UTF-16 units above which a text is long. */
const LONG = 16_384;

/**
 * The tokens of a long text, a piece of it at a time, so that others can have their turn between the pieces: those of
 * tokensOf, in no order and some of them repeatedly. undefined for a value whose tokens are made at once.
 */
export function tokenPieces(kind: IndexKind, value: Value, lang = ''): Iterable<readonly Uint8Array[]> | undefined {
  const { pieces, types } = definition(kind);
  if (!pieces || typeof value.value !== 'string' || value.value.length <= LONG) return undefined;
  return types.includes(value.type) ? fittedPieces(pieces(value.value, lang)) : undefined;
}

function* fittedPieces(pieces: Iterable<readonly string[]>): Generator<readonly Uint8Array[], void> {
  for (const piece of pieces) yield piece.map((token) => fitToken(utf8Bytes(token)));
}

/** The tokens to look up a function's argument with. Like tokensOf, but ngram takes the longest runs only. */
export function queryTokens(kind: IndexKind, value: Value, lang = ''): Uint8Array[] {
  const found = definition(kind);
  return finished((found.query ?? found.index)(typed(found, value), lang));
}

function typed(found: Definition, value: Value): Value {
  if (found.types.includes(value.type)) return value;
  const type = found.types[0];
  return type === 'uid' ? value : convert(value, type);
}

function finished(tokens: readonly Uint8Array[]): Uint8Array[] {
  const fitted = tokens.map((token) => fitToken(token));
  if (fitted.length <= 1) return fitted;
  fitted.sort((a, b) => compareBytes(a, b));
  return fitted.filter((token, i) => i === 0 || compareBytes(token, fitted[i - 1]) !== 0);
}
