import type { Steps } from '../../base/index.js';
import type { GeoQuery, Place } from '../contract.js';
import { invalidValue } from '../failure.js';
import { compareBytes } from '../ordered-bytes.js';
import { boxRegion } from './cell.js';
import { circleBoxes, distanceTo, placeInPolygon, polygonHolds, polygonsMeet, polygonsOf, samePlace } from './shape.js';
import { meetingTokens } from './token.js';

/**
 * Distinct tokens, ascending; the union of their postings holds every geometry that matches, and more: check each with
 * matchesGeoInSteps. Throws INVALID_VALUE for a query that no geometry can answer.
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
      throw invalidValue(
        `near takes a distance in meters of zero or more, not ${query.meters}`,
        'Write it as near(place, [longitude, latitude], 1000).',
      );
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

/**
 * The stored geometry answers the query; borders belong to their polygons. In steps, for two polygons take as much work
 * as their corners multiplied.
 */
export function* matchesGeoInSteps(query: GeoQuery, stored: Place): Steps<boolean> {
  switch (query.op) {
    case 'near':
      return distanceTo(query.point, stored) <= query.meters;
    case 'within':
      return yield* holds(query.region, stored);
    case 'contains':
      return yield* holds(stored, query.region);
    default:
      return yield* meet(query.region, stored);
  }
}

/** Every polygon of `inner` lies in one polygon of `outer`. */
function* holds(outer: Place, inner: Place): Steps<boolean> {
  const around = polygonsOf(outer);
  if (inner.type === 'Point') return around.some((rings) => placeInPolygon(inner.coordinates, rings) >= 0);
  for (const rings of polygonsOf(inner)) {
    let isHeld = false;
    for (const one of around) isHeld ||= yield* polygonHolds(one, rings);
    if (!isHeld) return false;
  }
  return true;
}

function* meet(a: Place, b: Place): Steps<boolean> {
  if (a.type === 'Point') return b.type === 'Point' ? samePlace(a.coordinates, b.coordinates) : yield* holds(b, a);
  if (b.type === 'Point') return yield* holds(a, b);
  for (const one of polygonsOf(a)) {
    for (const other of polygonsOf(b)) if (yield* polygonsMeet(one, other)) return true;
  }
  return false;
}
