import { describe, expect, it } from 'vitest';
import { decodeValue, encodeValue } from '../stored-value.js';
import { valueText } from '../value-text.js';
import { geometryText, isPlace, parseGeometry } from './geojson.js';

const line = [
  [1, 2],
  [3, 4.5],
];

describe('GeoJSON that is no place', () => {
  it.each([
    { type: 'MultiPoint', coordinates: line },
    { type: 'LineString', coordinates: line },
    { type: 'MultiLineString', coordinates: [line, [...line, [5, 6]]] },
    {
      type: 'GeometryCollection',
      geometries: [
        { type: 'LineString', coordinates: line },
        { type: 'GeometryCollection', geometries: [{ type: 'Point', coordinates: [1, 2] }] },
      ],
    },
  ])('is kept as it came: $type', (written) => {
    const geometry = parseGeometry(JSON.stringify(written).replaceAll('"', "'"));
    expect(geometry).toEqual(written);
    expect(isPlace(geometry)).toBe(false);
    expect(geometryText(geometry)).toBe(JSON.stringify(written));
    expect(valueText(decodeValue(encodeValue({ type: 'geo', value: geometry })))).toBe(JSON.stringify(written));
  });

  it.each([
    { type: 'LineString', coordinates: [[1, 2]] },
    { type: 'MultiLineString', coordinates: line },
    { type: 'MultiPoint', coordinates: [] },
    { type: 'MultiPoint', coordinates: [[1, 91]] },
    { type: 'GeometryCollection', geometries: [] },
    { type: 'GeometryCollection', geometries: [[1, 2]] },
    { type: 'GeometryCollection', coordinates: line },
    { type: 'Circle', coordinates: [1, 2] },
  ])('is refused where it means nothing: %j', (written) => {
    expect(() => parseGeometry(written)).toThrow(expect.objectContaining({ code: 'INVALID_VALUE' }));
  });

  it('is told what it lacks', () => {
    expect(() => parseGeometry({ coordinates: [1, 2] })).toThrow('a geometry without a type');
    expect(() => parseGeometry({ type: 'Point' })).toThrow('a geometry without coordinates');
  });

  it('lies in collections of a bounded depth', () => {
    let nested: unknown = { type: 'Point', coordinates: [1, 2] };
    for (let i = 0; i < 20_000; i++) nested = { type: 'GeometryCollection', geometries: [nested] };
    expect(() => parseGeometry(nested)).toThrow(/more than 16 deep/);
  });
});
