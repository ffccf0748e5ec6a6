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
 * same value. A bigfloat is decimal text. Of a float that was written with more digits than a double holds `written` has
 * them all: it may be meant for a bigfloat.
 */
export type Value =
  | { readonly type: 'default' | 'string' | 'password'; readonly value: string }
  | { readonly type: 'int'; readonly value: number | bigint }
  | { readonly type: 'float'; readonly value: number; readonly written?: string }
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
  /** Throws LIMIT_EXCEEDED where pattern and text together would take more than about a second. */
  test(text: string): boolean;
}

/** Trigrams that every match of a pattern must contain. `all`: nothing is known, any text may match. */
export type TrigramQuery =
  | { readonly op: 'all' }
  | { readonly op: 'none' }
  | { readonly op: 'and' | 'or'; readonly trigrams: readonly string[]; readonly parts: readonly TrigramQuery[] };

export type VectorMetric = 'euclidean' | 'cosine' | 'dotproduct';
