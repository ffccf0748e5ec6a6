import { assert } from '../../base/index.js';
import type { GeoName } from '../../sdl/index.js';
import { type Geometry, isPlace, parseGeometry, shapeOf } from '../../values/index.js';

interface PointInput {
  readonly longitude: number;
  readonly latitude: number;
}
interface PolygonInput {
  readonly coordinates: readonly { readonly points: readonly PointInput[] }[];
}
interface MultiPolygonInput {
  readonly polygons: readonly PolygonInput[];
}

const NAMES: ReadonlySet<string> = new Set<GeoName>(['Point', 'Polygon', 'MultiPolygon']);

export const isGeoName = (name: string): name is GeoName => NAMES.has(name);

const point = (input: PointInput): number[] => [input.longitude, input.latitude];
const polygon = (input: PolygonInput): number[][][] => input.coordinates.map((ring) => ring.points.map(point));

/** Coerced PointRef, PolygonRef or MultiPolygonRef as GeoJSON coordinates. */
export function coordinatesOf(name: GeoName, input: unknown): unknown {
  assert(input !== null && typeof input === 'object', 'a geo input is an object');
  if (name === 'Point') return point(input as PointInput);
  if (name === 'Polygon') return polygon(input as PolygonInput);
  return (input as MultiPolygonInput).polygons.map(polygon);
}

/**
 * A coerced geo input as it is stored, its rings closed; with Dgraph's names as it was given, as there. Throws
 * INVALID_VALUE for what is no geometry.
 */
export function geometryOf(name: GeoName, input: unknown, dgraph: boolean): Geometry {
  const given = { type: name, coordinates: coordinatesOf(name, input) };
  if (!dgraph) return parseGeometry(given);
  shapeOf(given);
  return given as Geometry;
}

const pointObject = (at: readonly number[]): PointInput => ({ longitude: at[0], latitude: at[1] });
const polygonObject = (rings: readonly (readonly (readonly number[])[])[]): PolygonInput => ({
  coordinates: rings.map((ring) => ({ points: ring.map(pointObject) })),
});

/** A stored geometry as the object that the generated Point, Polygon and MultiPolygon types describe; other kinds have none. */
export function geometryObject(geometry: Geometry): PointInput | PolygonInput | MultiPolygonInput | undefined {
  if (!isPlace(geometry)) return undefined;
  if (geometry.type === 'Point') return pointObject(geometry.coordinates);
  if (geometry.type === 'Polygon') return polygonObject(geometry.coordinates);
  return { polygons: geometry.coordinates.map(polygonObject) };
}
