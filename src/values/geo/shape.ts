import type { Steps } from '../../base/index.js';
import type { Place } from '../contract.js';

/** Longitude and latitude. Edges are straight lines between them, as GeoJSON (RFC 7946) says. */
export type Position = readonly number[];
type Ring = readonly Position[];
export type Rings = readonly Ring[];

const EARTH_METERS = 6_371_008.8;
const RADIAN = Math.PI / 180;

/** The polygons of a geometry, their rings closed; a point has none. */
export function polygonsOf(geometry: Place): readonly Rings[] {
  if (geometry.type === 'Point') return [];
  const polygons: readonly Rings[] = geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates;
  return polygons.map((rings) => rings.map(closed));
}

/** Rings are stored closed, save where Dgraph's GraphQL left them open. */
function closed(ring: Ring): Ring {
  const [first, last] = [ring[0], ring[ring.length - 1]];
  return samePlace(first, last) ? ring : [...ring, first];
}

export function samePlace(a: Position, b: Position): boolean {
  return a[0] === b[0] && a[1] === b[1];
}

export type Edge = readonly [Position, Position];

export function edgesOf(rings: Rings): Edge[] {
  return rings.flatMap((ring) => ring.slice(1).map((end, i): Edge => [ring[i], end]));
}

/** Which side of the line a-b the point lies on: above zero left, below zero right, zero on it. */
function side(a: Position, b: Position, p: Position): number {
  return (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]);
}

function onEdge(p: Position, a: Position, b: Position): boolean {
  if (side(a, b, p) !== 0) return false;
  return isBetween(p[0], a[0], b[0]) && isBetween(p[1], a[1], b[1]);
}

function isBetween(value: number, a: number, b: number): boolean {
  return a <= b ? value >= a && value <= b : value >= b && value <= a;
}

/** 1 inside, 0 on the border, -1 outside. Holes are outside. */
export function placeInPolygon(p: Position, rings: Rings): number {
  let inside = false;
  for (const ring of rings) {
    for (let i = 1; i < ring.length; i++) {
      const [a, b] = [ring[i - 1], ring[i]];
      // an edge wholly above or below has no point beside p
      if ((a[1] > p[1] && b[1] > p[1]) || (a[1] < p[1] && b[1] < p[1])) continue;
      if (onEdge(p, a, b)) return 0;
      if (a[1] > p[1] === b[1] > p[1]) continue;
      if (p[0] < ((b[0] - a[0]) * (p[1] - a[1])) / (b[1] - a[1]) + a[0]) inside = !inside;
    }
  }
  return inside ? 1 : -1;
}

/** The edges share a point; touching counts. */
function edgesMeet([a, b]: Edge, [c, d]: Edge): boolean {
  const [s, t, u, v] = [side(a, b, c), side(a, b, d), side(c, d, a), side(c, d, b)];
  if (Math.sign(s) * Math.sign(t) < 0 && Math.sign(u) * Math.sign(v) < 0) return true;
  return onEdge(c, a, b) || onEdge(d, a, b) || onEdge(a, c, d) || onEdge(b, c, d);
}

/** The edges cross at a point inside both. */
function edgesCross([a, b]: Edge, [c, d]: Edge): boolean {
  return (
    Math.sign(side(a, b, c)) * Math.sign(side(a, b, d)) < 0 && Math.sign(side(c, d, a)) * Math.sign(side(c, d, b)) < 0
  );
}

/** The polygons share a point. */
export function* polygonsMeet(a: Rings, b: Rings): Steps<boolean> {
  if (placeInPolygon(a[0][0], b) >= 0 || placeInPolygon(b[0][0], a) >= 0) return true;
  return yield* anyPair(edgesOf(a), edgesOf(b), edgesMeet);
}

/** Whether a test holds for any pair of edges; a step for each edge of the first list. */
function* anyPair(of: readonly Edge[], others: readonly Edge[], test: (a: Edge, b: Edge) => boolean): Steps<boolean> {
  for (const edge of of) {
    if (others.some((other) => test(edge, other))) return true;
    yield;
  }
  return false;
}

/** Every point of `inner` lies in `outer`, borders included. */
export function* polygonHolds(outer: Rings, inner: Rings): Steps<boolean> {
  const edges = edgesOf(inner);
  const middles = edges.map(([a, b]): Position => [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2]);
  for (const p of [...inner.flat(), ...middles]) {
    if (placeInPolygon(p, outer) < 0) return false;
    yield;
  }
  for (const p of outer.slice(1).flat()) {
    if (placeInPolygon(p, inner) > 0) return false;
    yield;
  }
  return !(yield* anyPair(edges, edgesOf(outer), edgesCross));
}

/** Great-circle distance in meters (haversine on the mean sphere). */
function distanceMeters(a: Position, b: Position): number {
  const [dLat, dLng] = [(b[1] - a[1]) * RADIAN, (b[0] - a[0]) * RADIAN];
  const h = Math.sin(dLat / 2) ** 2 + Math.cos(a[1] * RADIAN) * Math.cos(b[1] * RADIAN) * Math.sin(dLng / 2) ** 2;
  return 2 * EARTH_METERS * Math.asin(Math.min(1, Math.sqrt(h)));
}

/** Meters from a point to the nearest point of a geometry; 0 inside a polygon. */
export function distanceTo(p: Position, geometry: Place): number {
  if (geometry.type === 'Point') return distanceMeters(p, geometry.coordinates);
  const polygons = polygonsOf(geometry);
  if (polygons.some((rings) => placeInPolygon(p, rings) >= 0)) return 0;
  let nearest = Number.POSITIVE_INFINITY;
  for (const rings of polygons) {
    for (const edge of edgesOf(rings)) nearest = Math.min(nearest, distanceMeters(p, nearestOn(p, edge)));
  }
  return nearest;
}

/** The point of an edge nearest to `p`, on a plane that touches the globe at `p`. */
function nearestOn(p: Position, [a, b]: Edge): Position {
  const shrink = Math.cos(p[1] * RADIAN);
  const [ax, ay] = [turn(a[0] - p[0]) * shrink, a[1] - p[1]];
  const [dx, dy] = [(b[0] - a[0]) * shrink, b[1] - a[1]];
  const length = dx * dx + dy * dy;
  const t = length === 0 ? 0 : Math.min(1, Math.max(0, -(ax * dx + ay * dy) / length));
  return [a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])];
}

/** Degrees of longitude the short way round. */
function turn(degrees: number): number {
  return degrees > 180 ? degrees - 360 : degrees < -180 ? degrees + 360 : degrees;
}

export interface Box {
  readonly west: number;
  readonly south: number;
  readonly east: number;
  readonly north: number;
}

/** Boxes that hold every point within `meters` of a point: two where the circle crosses the date line. */
export function circleBoxes(p: Position, meters: number): readonly Box[] {
  // a meter more, as rounding must never leave a match out
  const angle = (meters * 1.001 + 1) / EARTH_METERS;
  const [south, north] = [p[1] - angle / RADIAN, p[1] + angle / RADIAN];
  const clipped = { south: Math.max(-90, south), north: Math.min(90, north) };
  if (south <= -90 || north >= 90) return [{ west: -180, east: 180, ...clipped }];
  const reach = Math.asin(Math.min(1, Math.sin(angle) / Math.cos(p[1] * RADIAN))) / RADIAN;
  const [west, east] = [p[0] - reach, p[0] + reach];
  if (west < -180)
    return [
      { west: -180, east, ...clipped },
      { west: west + 360, east: 180, ...clipped },
    ];
  if (east > 180)
    return [
      { west, east: 180, ...clipped },
      { west: -180, east: east - 360, ...clipped },
    ];
  return [{ west, east, ...clipped }];
}
