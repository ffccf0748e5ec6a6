import { assert, type Names } from '../../../base/index.js';
import type { GraphChange } from '../../../graph/index.js';
import type { DefaultValue, Field } from '../../../sdl/index.js';
import { type DateTime, formatDateTime, parseDateTime, parseVector, type Value } from '../../../values/index.js';
import { geometryOf, isGeoName } from '../geo.js';

/** A coerced input value as a stored value of its field. Throws INVALID_VALUE. */
function toValue(field: Field, given: unknown, names: Names): Value {
  const { name } = field.type;
  if (isGeoName(name)) return { type: 'geo', value: geometryOf(name, given, names.dgraph) };
  switch (name) {
    case 'Int':
      return { type: 'int', value: Number(given) };
    case 'Int64':
      return { type: 'int', value: integer(given) };
    case 'Float':
      return { type: 'float', value: Number(given) };
    case 'Boolean':
      return { type: 'bool', value: given === true || given === 'true' };
    case 'DateTime':
      return { type: 'datetime', value: parseDateTime(String(given)) };
    default:
      return { type: 'string', value: String(given) };
  }
}

function integer(given: unknown): number | bigint {
  const exact =
    typeof given === 'bigint' ? given : typeof given === 'number' ? BigInt(Math.trunc(given)) : BigInt(String(given));
  const number = Number(exact);
  return Number.isSafeInteger(number) ? number : exact;
}

/** The values of a field's input: one, the members of a list, or a vector. */
export function toValues(field: Field, given: unknown, names: Names): Value[] {
  if (field.embedding) return [{ type: 'float32vector', value: parseVector(JSON.stringify(given)) }];
  const list = Array.isArray(given) ? given : [given];
  return list.filter((each) => each !== null).map((each) => toValue(field, each, names));
}

/** The language that a field's values are written with; fields of several languages are not written. */
export function languageOf(field: Field): string {
  const languages = field.storage?.languages ?? [];
  return languages.length === 1 && languages[0] !== '.' ? languages[0] : '';
}

export function setValues(uid: number, field: Field, given: unknown, names: Names): GraphChange[] {
  assert(field.storage, `${field.name} is stored`);
  const { predicate } = field.storage;
  const lang = languageOf(field);
  return toValues(field, given, names).map((value) => ({ op: 'setValue', uid, predicate, value, lang }));
}

/** A default as input would give it; `now` is the request's time. */
export function defaultInput(value: DefaultValue, now: DateTime): unknown {
  return value.kind === 'now' ? formatDateTime(now) : value.text;
}
