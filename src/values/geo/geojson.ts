import type { Geometry, Place } from '../contract.js';
import { invalidValue, shown } from '../failure.js';
import { samePlace } from './shape.js';

type Position = readonly number[];
type Ring = readonly Position[];
type Rings = readonly Ring[];

/**
 * A geometry from a GeoJSON object, from its text (single quotes accepted, as RDF literals write it), or from bare
 * coordinates, whose depth says what they are. Longitude comes first. Throws INVALID_VALUE.
 */
export function parseGeometry(input: unknown): Geometry {
  const geometry = shapeOf(input);
  demandGlobe(geometry);
  return geometry;
}

/** The same, positions beyond the globe let be: Dgraph's GraphQL takes them. */
export function shapeOf(input: unknown): Geometry {
  const data = typeof input === 'string' ? fromText(input) : input;
  if (Array.isArray(data)) return fromCoordinates(data);
  if (typeof data !== 'object' || data === null) throw notGeo(input);
  return fromObject(data, 0);
}

/** Collections inside each other. */
const DEEPEST = 16;

function fromObject(data: object, depth: number): Geometry {
  const { type, coordinates, geometries } = data as { type?: unknown; coordinates?: unknown; geometries?: unknown };
  switch (type) {
    case 'Point':
      return { type, coordinates: position(coordinates) };
    case 'Polygon':
      return { type, coordinates: rings(coordinates) };
    case 'MultiPolygon':
      return { type, coordinates: list(coordinates).map(rings) };
    case 'MultiPoint':
      return { type, coordinates: list(coordinates).map(position) };
    case 'LineString':
      return { type, coordinates: line(coordinates) };
    case 'MultiLineString':
      return { type, coordinates: list(coordinates).map(line) };
    case 'GeometryCollection':
      if (depth === DEEPEST) {
        throw invalidValue(`collections of geometries lie more than ${DEEPEST} deep`, 'Put their members into one.');
      }
      return { type, geometries: list(geometries).map((one) => member(one, depth + 1)) };
    default:
      throw invalidValue(
        type === undefined ? 'a geometry without a type' : `${shown(String(type))} is not a kind of geometry`,
        'Use Point, Polygon, MultiPolygon, MultiPoint, LineString, MultiLineString or GeometryCollection.',
      );
  }
}

function member(data: unknown, depth: number): Geometry {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) throw notGeo(data);
  return fromObject(data, depth);
}

const PLACES: ReadonlySet<string> = new Set<Place['type']>(['Point', 'Polygon', 'MultiPolygon']);

/** A point, a polygon or a multipolygon: what a geo index holds and the geo functions find. */
export function isPlace(geometry: Geometry): geometry is Place {
  return PLACES.has(geometry.type);
}

function fromText(text: string): unknown {
  try {
    return JSON.parse(text.replaceAll("'", '"'));
  } catch {
    throw notGeo(text);
  }
}

function notGeo(input: unknown): Error {
  const text = typeof input === 'string' ? input : String(JSON.stringify(input));
  return invalidValue(`${shown(text)} is not GeoJSON`, `Write it as {"type":"Point","coordinates":[1.5,2.0]}.`);
}

function fromCoordinates(data: readonly unknown[]): Place {
  let depth = 0;
  for (let at: unknown = data; Array.isArray(at); at = at[0]) depth++;
  if (depth === 1) return { type: 'Point', coordinates: position(data) };
  // the outline of a polygon alone, as Dgraph's documentation writes it too
  if (depth === 2) return { type: 'Polygon', coordinates: [ring(data)] };
  if (depth === 3) return { type: 'Polygon', coordinates: rings(data) };
  if (depth === 4) return { type: 'MultiPolygon', coordinates: data.map(rings) };
  throw invalidValue(
    `coordinates nested ${depth} deep are no geometry`,
    'Write a point as [lng, lat], a polygon as [[[lng, lat], ...]], a multipolygon as [[[[lng, lat], ...]]].',
  );
}

function list(data: unknown): readonly unknown[] {
  if (!Array.isArray(data) || data.length === 0) {
    throw invalidValue('a geometry without coordinates', 'Write it as {"type":"Point","coordinates":[1.5,2.0]}.');
  }
  return data;
}

function position(data: unknown): Position {
  const numbers = list(data);
  const whole = numbers.length >= 2 && numbers.every((n) => typeof n === 'number' && Number.isFinite(n));
  if (!whole) throw invalidValue('a position needs a longitude and a latitude', 'Write it as [12.5, 41.9].');
  return numbers as readonly number[];
}

type Nested = number | readonly Nested[];

function demandGlobe(geometry: Geometry): void {
  if (geometry.type === 'GeometryCollection') geometry.geometries.forEach(demandGlobe);
  else demandPositions(geometry.coordinates);
}

function demandPositions(nested: readonly Nested[]): void {
  const [longitude, latitude] = nested;
  if (typeof longitude !== 'number' || typeof latitude !== 'number') {
    for (const one of nested) if (typeof one !== 'number') demandPositions(one);
  } else if (Math.abs(longitude) > 180 || Math.abs(latitude) > 90) {
    throw invalidValue(
      `[${longitude}, ${latitude}] lies outside the globe`,
      'Longitude (-180 to 180) comes first, then latitude (-90 to 90).',
    );
  }
}

function line(data: unknown): readonly Position[] {
  const positions = list(data).map(position);
  if (positions.length < 2) throw invalidValue('a line needs at least two positions', 'Write a place as a Point.');
  return positions;
}

function rings(data: unknown): Rings {
  return list(data).map(ring);
}

/** A ring is closed; one that is left open is closed here, as it could mean nothing else. */
function ring(data: unknown): Ring {
  const positions = list(data).map(position);
  const [first, last] = [positions[0], positions[positions.length - 1]];
  const closed = samePlace(first, last);
  const distinct = closed ? positions.length - 1 : positions.length;
  if (distinct < 3) {
    throw invalidValue(
      'a ring of a polygon needs at least three corners',
      'Write it as [[0, 0], [1, 0], [1, 1], [0, 0]].',
    );
  }
  return closed ? positions : [...positions, first];
}

/** GeoJSON text as it is stored and shown. */
export function geometryText(geometry: Geometry): string {
  const { type } = geometry;
  return JSON.stringify(
    type === 'GeometryCollection'
      ? { type, geometries: geometry.geometries }
      : { type, coordinates: geometry.coordinates },
  );
}
