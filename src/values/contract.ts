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

/** GeoJSON geometry as stored: coordinates are [longitude, latitude]. */
export type Geometry =
  | { readonly type: 'Point'; readonly coordinates: readonly number[] }
  | { readonly type: 'Polygon'; readonly coordinates: readonly (readonly (readonly number[])[])[] }
  | { readonly type: 'MultiPolygon'; readonly coordinates: readonly (readonly (readonly (readonly number[])[])[])[] };

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
