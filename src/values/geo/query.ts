import type { GeoQuery, Geometry } from '../contract.js';
import { invalidValue } from '../failure.js';
import { compareBytes } from '../ordered-bytes.js';
import { boxRegion } from './cell.js';
import { circleBoxes, distanceTo, placeInPolygon, polygonHolds, polygonsMeet, polygonsOf } from './shape.js';
import { meetingTokens } from './token.js';

/**
 * Distinct tokens, ascending; the union of their postings holds every geometry that matches, and more: check each with
 * matchesGeo. Throws INVALID_VALUE for a query that no geometry can answer.
 */
export function geoQueryTokens(query: GeoQuery): Uint8Array[] {
  check(query);
  const tokens = meetingTokens(query.op === 'near' ? boxRegion(circleBoxes(query.point, query.meters)) : query.region);
  tokens.sort((a, b) => compareBytes(a, b));
  return tokens.filter((token, i) => i === 0 || compareBytes(token, tokens[i - 1]) !== 0);
}

function check(query: GeoQuery): void {
  if (query.op === 'near') {
    if (!(query.meters >= 0) || !Number.isFinite(query.meters)) {
      throw invalidValue(`near takes a distance in meters of zero or more, not ${query.meters}`);
    }
    return;
  }
  if (query.op !== 'contains' && query.region.type === 'Point') {
    throw invalidValue(
      `${query.op} takes a polygon or a multipolygon, not a point`,
      'Write the polygon as [[[lng, lat], [lng, lat], [lng, lat], [lng, lat]]].',
    );
  }
}

/** The stored geometry answers the query. Borders belong to their polygons. */
export function matchesGeo(query: GeoQuery, stored: Geometry): boolean {
  switch (query.op) {
    case 'near':
      return distanceTo(query.point, stored) <= query.meters;
    case 'within':
      return holds(query.region, stored);
    case 'contains':
      return holds(stored, query.region);
    default:
      return meet(query.region, stored);
  }
}

/** Every polygon of `inner` lies in one polygon of `outer`. */
function holds(outer: Geometry, inner: Geometry): boolean {
  const around = polygonsOf(outer);
  if (inner.type === 'Point') return around.some((rings) => placeInPolygon(inner.coordinates, rings) >= 0);
  return polygonsOf(inner).every((rings) => around.some((one) => polygonHolds(one, rings)));
}

function meet(a: Geometry, b: Geometry): boolean {
  if (a.type === 'Point') return b.type === 'Point' ? samePlace(a.coordinates, b.coordinates) : holds(b, a);
  if (b.type === 'Point') return holds(a, b);
  return polygonsOf(a).some((one) => polygonsOf(b).some((other) => polygonsMeet(one, other)));
}

function samePlace(a: readonly number[], b: readonly number[]): boolean {
  return a[0] === b[0] && a[1] === b[1];
}
