import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atOnce } from '../../base/index.js';
import type { GeoQuery, Place } from '../contract.js';
import { parseGeometry } from './geojson.js';
import { geoQueryTokens, matchesGeoInSteps } from './query.js';
import { geometryTokens } from './token.js';

const key = (token: Uint8Array): string => Buffer.from(token).toString('hex');

function isCandidate(query: GeoQuery, stored: Place): boolean {
  const found = new Set(geoQueryTokens(query).map(key));
  return geometryTokens(stored).some((token) => found.has(key(token)));
}

const point = fc
  .tuple(fc.double({ min: -180, max: 180, noNaN: true }), fc.double({ min: -90, max: 90, noNaN: true }))
  .map(([lng, lat]) => [lng, lat] as [number, number]);
const rectangle = fc
  .tuple(
    fc.double({ min: -170, max: 160, noNaN: true }),
    fc.double({ min: -80, max: 70, noNaN: true }),
    fc.double({ min: 0.001, max: 10, noNaN: true }),
    fc.double({ min: 0.001, max: 10, noNaN: true }),
  )
  .map(([x, y, w, h]): Place => {
    const ring = [
      [x, y],
      [x + w, y],
      [x + w, y + h],
      [x, y + h],
      [x, y],
    ];
    return { type: 'Polygon', coordinates: [ring] };
  });
const geometry = fc.oneof(
  point.map((coordinates): Place => ({ type: 'Point', coordinates })),
  rectangle,
);
const query = fc.oneof(
  fc.record({ op: fc.constant('near' as const), point, meters: fc.double({ min: 0, max: 2_000_000, noNaN: true }) }),
  fc.record({ op: fc.constantFrom('within' as const, 'intersects' as const, 'contains' as const), region: rectangle }),
);

describe('geo queries', () => {
  it('find by tokens all that match', () => {
    fc.assert(
      fc.property(query, geometry, (asked, stored) => {
        if (atOnce(matchesGeoInSteps(asked, stored))) expect(isCandidate(asked, stored)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it('find what is much larger, much smaller or as large as what they ask for', () => {
    const side = fc.integer({ min: -16, max: 5 }).map((exponent) => 10 * 2 ** exponent);
    const share = fc.double({ min: 0, max: 1, noNaN: true });
    const boxAt = ([x, y]: readonly [number, number], width: number, height: number): Place => {
      const [east, north] = [Math.min(180, x + width), Math.min(90, y + height)];
      return parseGeometry({
        type: 'Polygon',
        coordinates: [
          [
            [x, y],
            [east, y],
            [east, north],
            [x, north],
          ],
        ],
      }) as Place;
    };
    const place = fc
      .tuple(point, side, side, fc.boolean())
      .map(([corner, width, height, isPoint]) => (isPoint ? pointAt(...corner) : boxAt(corner, width, height)));
    let found = 0;
    fc.assert(
      fc.property(
        place,
        share,
        share,
        side,
        side,
        fc.constantFrom('within', 'intersects', 'contains'),
        (stored, u, v, w, h, op) => {
          const [[west, south]] =
            stored.type === 'Point' ? [stored.coordinates] : (stored.coordinates[0] as [number, number][]);
          const corner = [Math.max(-180, west - u * w), Math.max(-90, south - v * h)] as const;
          const asked = { op, region: boxAt(corner, w, h) } as GeoQuery;
          if (!atOnce(matchesGeoInSteps(asked, stored))) return;
          found++;
          expect(isCandidate(asked, stored)).toBe(true);
        },
      ),
      { numRuns: 500 },
    );
    expect(found).toBeGreaterThan(100);
  });

  it('find what lies close', () => {
    fc.assert(
      fc.property(point, fc.double({ min: 0, max: 0.01, noNaN: true }), ([lng, lat], step) => {
        const stored: Place = { type: 'Point', coordinates: [Math.min(180, lng + step), Math.min(90, lat + step)] };
        const asked: GeoQuery = { op: 'near', point: [lng, lat], meters: 3000 };
        expect(atOnce(matchesGeoInSteps(asked, stored))).toBe(true);
        expect(isCandidate(asked, stored)).toBe(true);
      }),
    );
  });

  const square = placeFrom('[[[0,0],[2,0],[2,2],[0,2],[0,0]]]');
  const holed = placeFrom('[[[0,0],[9,0],[9,9],[0,9]],[[3,3],[6,3],[6,6],[3,6]]]');
  const inHole = placeFrom('[[[4,4],[5,4],[5,5],[4,5]]]');
  it.each<[string, GeoQuery, Place, boolean]>([
    ['near a border', { op: 'near', point: [1.1, 2], meters: 5 }, square, true],
    ['near, too far', { op: 'near', point: [1.1, 2.01], meters: 1000 }, square, false],
    ['near across the date line', { op: 'near', point: [179.999, 0], meters: 500 }, pointAt(-179.999, 0), true],
    ['within', { op: 'within', region: holed }, square, true],
    ['not within a hole', { op: 'within', region: holed }, inHole, false],
    ['a hole inside does not hold', { op: 'contains', region: square }, holed, true],
    ['contains a point', { op: 'contains', region: pointAt(1, 1) }, square, true],
    ['contains no point in its hole', { op: 'contains', region: pointAt(4.5, 4.5) }, holed, false],
    ['intersects by touching', { op: 'intersects', region: placeFrom('[[[2,2],[3,2],[3,3]]]') }, square, true],
    ['no intersection in a hole', { op: 'intersects', region: inHole }, holed, false],
  ])('%s', (_, asked, stored, expected) => {
    expect(atOnce(matchesGeoInSteps(asked, stored))).toBe(expected);
  });

  it('refuse a point where a polygon is needed', () => {
    expect(() => geoQueryTokens({ op: 'intersects', region: pointAt(0, 0) })).toThrow(/takes a polygon/);
  });
});

function placeFrom(text: string): Place {
  return parseGeometry(text) as Place;
}

function pointAt(lng: number, lat: number): Place {
  return { type: 'Point', coordinates: [lng, lat] };
}

it('compares two polygons of many corners in steps', () => {
  const circle = (radius: number): Place => {
    const corner = (i: number) => [
      Math.cos((i / 1_000) * 2 * Math.PI) * radius,
      Math.sin((i / 1_000) * 2 * Math.PI) * radius,
    ];
    const ring = Array.from({ length: 1_000 }, (_, i) => corner(i));
    return { type: 'Polygon', coordinates: [[...ring, ring[0]]] };
  };
  const stepsOf = (query: GeoQuery, stored: Place): [steps: number, matches: boolean] => {
    const work = matchesGeoInSteps(query, stored);
    for (let steps = 0; ; steps++) {
      const step = work.next();
      if (step.done) return [steps, step.value];
    }
  };
  // each corner, each middle of an edge, each edge
  expect(stepsOf({ op: 'within', region: circle(2) }, circle(1))).toEqual([3_001, true]);
  expect(stepsOf({ op: 'contains', region: circle(2) }, circle(1))).toEqual([0, false]);
  const [steps, meet] = stepsOf(
    { op: 'intersects', region: circle(1) },
    {
      type: 'Polygon',
      coordinates: [
        [
          [9, 9],
          [9.5, 9],
          [9, 9.5],
          [9, 9],
        ],
      ],
    },
  );
  expect([steps, meet]).toEqual([1_000, false]);
});
