import type { Geometry } from '../contract.js';
import { invalidValue, shown } from '../failure.js';

type Position = readonly number[];
type Ring = readonly Position[];
type Rings = readonly Ring[];

/**
 * A geometry from a GeoJSON object, from its text (single quotes accepted, as RDF literals write it), or from bare
 * coordinates, whose depth says what they are. Longitude comes first. Throws INVALID_VALUE.
 */
export function parseGeometry(input: unknown): Geometry {
  const data = typeof input === 'string' ? fromText(input) : input;
  if (Array.isArray(data)) return fromCoordinates(data);
  if (typeof data !== 'object' || data === null) throw notGeo(input);
  const { type, coordinates } = data as { type?: unknown; coordinates?: unknown };
  switch (type) {
    case 'Point':
      return { type, coordinates: position(coordinates) };
    case 'Polygon':
      return { type, coordinates: rings(coordinates) };
    case 'MultiPolygon':
      return { type, coordinates: list(coordinates).map(rings) };
    default:
      throw invalidValue(
        `${shown(String(type))} is not a kind of geometry that is stored`,
        'Use Point, Polygon or MultiPolygon.',
      );
  }
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

function fromCoordinates(data: readonly unknown[]): Geometry {
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
  if (!Array.isArray(data) || data.length === 0) throw invalidValue('a geometry without coordinates');
  return data;
}

function position(data: unknown): Position {
  const numbers = list(data);
  const whole = numbers.length >= 2 && numbers.every((n) => typeof n === 'number' && Number.isFinite(n));
  if (!whole) throw invalidValue('a position is [longitude, latitude]');
  const [longitude, latitude] = numbers as readonly number[];
  if (Math.abs(longitude) > 180 || Math.abs(latitude) > 90) {
    throw invalidValue(
      `[${longitude}, ${latitude}] lies outside the globe`,
      'Longitude (-180 to 180) comes first, then latitude (-90 to 90).',
    );
  }
  return numbers as readonly number[];
}

function rings(data: unknown): Rings {
  return list(data).map(ring);
}

/** A ring is closed; one that is left open is closed here, as it could mean nothing else. */
function ring(data: unknown): Ring {
  const positions = list(data).map(position);
  const [first, last] = [positions[0], positions[positions.length - 1]];
  const closed = first[0] === last[0] && first[1] === last[1];
  const distinct = closed ? positions.length - 1 : positions.length;
  if (distinct < 3) throw invalidValue('a ring of a polygon needs at least three corners');
  return closed ? positions : [...positions, first];
}

/** GeoJSON text as it is stored and shown. */
export function geometryText(geometry: Geometry): string {
  return JSON.stringify({ type: geometry.type, coordinates: geometry.coordinates });
}
