import type { JsonWriter, Steps } from '../base/index.js';

/** The scalar types of the store. `uid` is an edge and never a Value. */
export type TypeName =
  | 'default'
  | 'string'
  | 'int'
  | 'float'
  | 'bool'
  | 'datetime'
  | 'geo'
  | 'password'
  | 'uid'
  | 'float32vector'
  | 'bigfloat';

export type ScalarType = Exclude<TypeName, 'uid'>;

/** An instant with nanoseconds and the offset it was written with (it is shown with the same). */
export interface DateTime {
  /** whole seconds since 1970 UTC; may be negative */
  readonly seconds: number;
  /** 0 to 999,999,999 */
  readonly nanos: number;
  /** minutes east of UTC */
  readonly offset: number;
}

/** Longitude and latitude, and what stands behind them. */
type Coordinates = readonly number[];

/** GeoJSON that the geo index and the geo functions know. */
export type Place =
  | { readonly type: 'Point'; readonly coordinates: Coordinates }
  | { readonly type: 'Polygon'; readonly coordinates: readonly (readonly Coordinates[])[] }
  | { readonly type: 'MultiPolygon'; readonly coordinates: readonly (readonly (readonly Coordinates[])[])[] };

/** GeoJSON geometry as stored. What is no place is kept and shown, and no index holds it. */
export type Geometry =
  | Place
  | { readonly type: 'MultiPoint' | 'LineString'; readonly coordinates: readonly Coordinates[] }
  | { readonly type: 'MultiLineString'; readonly coordinates: readonly (readonly Coordinates[])[] }
  | { readonly type: 'GeometryCollection'; readonly geometries: readonly Geometry[] };

/**
 * One scalar. An int is a number when it is a safe integer and a bigint (within 64 bits) otherwise, never both for the
 * same value. A bigfloat is decimal text.
 */
export type Value =
  | { readonly type: 'default' | 'string' | 'password'; readonly value: string }
  | { readonly type: 'int'; readonly value: number | bigint }
  | { readonly type: 'float'; readonly value: number }
  | { readonly type: 'bool'; readonly value: boolean }
  | { readonly type: 'datetime'; readonly value: DateTime }
  | { readonly type: 'geo'; readonly value: Geometry }
  | { readonly type: 'float32vector'; readonly value: Float32Array }
  | { readonly type: 'bigfloat'; readonly value: string };

/** A value as it lies in the store: one type byte, then the payload. Equal values have equal bytes. */
export type StoredValue = Uint8Array;

export type IndexKind =
  | 'term'
  | 'exact'
  | 'hash'
  | 'trigram'
  | 'fulltext'
  | 'int'
  | 'float'
  | 'bool'
  | 'bigfloat'
  | 'year'
  | 'month'
  | 'day'
  | 'hour'
  | 'geo'
  | 'ngram'
  | 'hnsw';

/** What an index kind does, and what it may be used for. */
export interface Tokenizer {
  readonly kind: IndexKind;
  /** predicate types that may carry it */
  readonly types: readonly TypeName[];
  /** bytewise order of tokens follows the order of values, so that inequality and order can walk it */
  readonly sortable: boolean;
  /** two different values may share a token: what a lookup finds must be checked against the value */
  readonly lossy: boolean;
}

/** How far two geometries must agree; what every geo function of the query language comes down to. */
export type GeoQuery =
  /** stored geometry within `meters` of the point */
  | { readonly op: 'near'; readonly point: readonly [number, number]; readonly meters: number }
  /** stored geometry lies inside this one */
  | { readonly op: 'within'; readonly region: Place }
  /** stored geometry holds this one */
  | { readonly op: 'contains'; readonly region: Place }
  | { readonly op: 'intersects'; readonly region: Place };

/** A user's pattern, matched anywhere in a text in time linear in its length. */
export interface Pattern {
  readonly source: string;
  /** Throws LIMIT_EXCEEDED where pattern and text together would take more than about a second. */
  test(text: string): boolean;
}

/** Trigrams that every match of a pattern must contain. `all`: nothing is known, any text may match. */
export type TrigramQuery =
  | { readonly op: 'all' }
  | { readonly op: 'none' }
  | { readonly op: 'and' | 'or'; readonly trigrams: readonly string[]; readonly parts: readonly TrigramQuery[] };

export type VectorMetric = 'euclidean' | 'cosine' | 'dotproduct';

/**
 * The functions of this room's door (`index.ts` exports each of them; a test holds it to this list).
 * All are pure. User mistakes are thrown as INVALID_VALUE.
 */
export interface ValuesDoor {
  encodeValue(value: Value): StoredValue;
  decodeValue(bytes: StoredValue): Value;
  storedType(bytes: StoredValue): ScalarType;
  /** JSON straight from stored bytes */
  writeValue(bytes: StoredValue, out: JsonWriter): void;
  /** order of two stored values without decoding; the same order as compareValues */
  compareStored(a: StoredValue, b: StoredValue): number;
  /** order within a type, numbers across int, float and bigfloat; other mixed types by type */
  compareValues(a: Value, b: Value): number;
  /** order of texts in a language (collation), for `orderasc: name@de` */
  compareTexts(a: string, b: string, lang: string): number;
  equalValues(a: Value, b: Value): boolean;
  /** text form, as in facets, groupby keys, RDF and conversion to string */
  valueText(value: Value): string;
  /** to a predicate's type, by the rules of conversion */
  convert(value: Value, to: ScalarType): Value;
  /** a typed RDF literal: `"text"^^<iri>`; the empty iri gives a `default` value */
  parseLiteral(text: string, iri: string): Value;
  /** the full IRI for RDF output; "" where a plain literal does */
  literalIri(type: ScalarType): string;
  /** name as written in a schema (any case of dateTime, `default` ...) to type */
  typeNamed(name: string): TypeName | undefined;
  hashPassword(text: string): string;
  /** the same, worked out on another thread */
  hashPasswordAside(text: string): Promise<string>;
  isPasswordHash(text: string): boolean;
  checkPassword(hash: string, text: string): Promise<boolean>;

  parseDateTime(text: string): DateTime;
  formatDateTime(time: DateTime): string;
  compareDateTimes(a: DateTime, b: DateTime): number;

  tokenizer(kind: IndexKind): Tokenizer;
  indexKindNamed(name: string): IndexKind | undefined;
  /** index tokens of a stored value, distinct and ascending; tokens over `limit` bytes are cut and hashed */
  tokensOf(kind: IndexKind, value: Value, lang?: string, limit?: number): Uint8Array[];
  /** those of a long text a piece at a time, in no order, some repeatedly; undefined for what tokensOf gives at once */
  tokenPieces(
    kind: IndexKind,
    value: Value,
    lang?: string,
    limit?: number,
  ): Iterable<readonly Uint8Array[]> | undefined;
  /** tokens to look a function's argument up with (ngram takes the longest only) */
  queryTokens(kind: IndexKind, value: Value, lang?: string, limit?: number): Uint8Array[];
  /** the token was cut and hashed, so what it finds must be checked whatever its kind */
  isHashedToken(token: Uint8Array, limit?: number): boolean;
  /** tokens whose union of postings holds every candidate; check each with `matchesGeoInSteps` */
  geoQueryTokens(query: GeoQuery): Uint8Array[];
  /** in steps: two polygons take as much work as their corners multiplied */
  matchesGeoInSteps(query: GeoQuery, stored: Place): Steps<boolean>;
  /** GeoJSON as object or text (single quotes accepted); bare coordinates give a Point, Polygon or MultiPolygon by depth */
  parseGeometry(input: unknown): Geometry;
  /** a point, a polygon or a multipolygon: what a geo index holds and the geo functions find */
  isPlace(geometry: Geometry): geometry is Place;
  /** words of a text for `term`, lower-cased, distinct */
  termsOf(text: string): string[];
  /** stemmed words of a text for `fulltext`, distinct */
  fullTextTerms(text: string, lang: string): string[];
  /** a long text in parts whose words are those of the whole */
  piecesOf(text: string): Iterable<string>;
  /** words and stemmed words of a long text, a piece of it at a time, some repeatedly */
  wordPieces(text: string): Iterable<readonly string[]>;
  stemPieces(text: string, lang: string): Iterable<readonly string[]>;
  /** `en-US` -> `en`; a tag that names no language gives `en` */
  langBase(lang: string): string;

  parseVector(text: string): Float32Array;
  /** smaller is nearer: euclidean distance, 1 - cosine, negative dot product */
  vectorDistance(metric: VectorMetric, a: Float32Array, b: Float32Array): number;

  /** flags: any of i, m, s. Throws INVALID_VALUE on what RE2 has no linear-time answer for */
  compilePattern(source: string, flags: string): Pattern;
  requiredTrigrams(source: string, flags: string): TrigramQuery;
  trigramToken(trigram: string): Uint8Array;
  /** edit distance over code points is at most `max` */
  levenshteinWithin(a: string, b: string, max: number): boolean;

  /** canonical decimal text: no exponent, no leading or trailing zeros */
  parseBigFloat(text: string): string;
  bigAdd(a: string, b: string): string;
  bigSubtract(a: string, b: string): string;
  bigMultiply(a: string, b: string): string;
  /** undefined for a zero divisor */
  bigDivide(a: string, b: string): string | undefined;
  /** undefined below zero */
  bigSqrt(a: string): string | undefined;
  bigFloor(a: string): string;
  bigCeil(a: string): string;
  bigCompare(a: string, b: string): number;
  bigToNumber(a: string): number;
}
