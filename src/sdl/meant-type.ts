import type { Definitions } from './definition.js';
import { SCALARS } from './scalar.js';

/** What other systems call the types of values, in small letters, by what is to be written for them here. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'Write ID for names that the service gives, String! @id for those that you give.': 'uuid guid objectid uid oid',
    'Write Int, a whole number of 32 bits, or Int64.': 'integer short smallint int16 int32 uint serial number',
    'Write Int64, a whole number of 64 bits.': 'long bigint biginteger bigserial',
    'Write Float, or String where every digit counts.': 'decimal bigdecimal numeric money',
    'Write Float.': 'double real float32 float64',
    'Write String.': 'text str varchar char character citext url uri email',
    'Write String for JSON as a text, or define a type of the fields that it has.':
      'json jsonb jsonobject object any map',
    'Write Boolean.': 'bool',
    'Write DateTime, which takes days ("2026-01-31") too.':
      'date timestamp timestamptz localdate localdatetime instant',
    'Write DateTime, or String for times of no day.': 'time localtime',
    'Write Point, Polygon or MultiPolygon.': 'geo geometry geography geopoint location',
  }).flatMap(([fix, names]) => names.split(' ').map((name) => [name, fix] as const)),
);

/** What to write in place of a type that nobody defines; undefined where nothing tells what was meant. */
export type MeantType = (name: string) => string | undefined;

export function meantType({ objects, enums, unions, inputs }: Definitions): MeantType {
  const defined = [...inputs.keys(), ...unions.keys(), ...enums.keys(), ...objects.keys(), ...SCALARS];
  const bySmall = new Map(defined.map((name) => [name.toLowerCase(), `Write ${name}.`]));
  return (name) => bySmall.get(name.toLowerCase()) ?? ELSEWHERE.get(name.toLowerCase());
}
