import type { ScalarType, TypeName, Value } from './contract.js';
import { convert } from './convert.js';
import { invalidValue } from './failure.js';
import { passwordLiteral } from './password.js';

const XML_SCHEMA = 'http://www.w3.org/2001/XMLSchema#';

/** Local names of XML Schema types, and whether they hold on the short `xs:` form too. */
const XML_TYPES: Readonly<Record<string, ScalarType>> = {
  string: 'string',
  int: 'int',
  integer: 'int',
  long: 'int',
  positiveInteger: 'int',
  nonNegativeInteger: 'int',
  float: 'float',
  double: 'float',
  decimal: 'float',
  boolean: 'bool',
  bool: 'bool',
  date: 'datetime',
  dateTime: 'datetime',
  gYear: 'datetime',
  gYearMonth: 'datetime',
  password: 'password',
  bigfloat: 'bigfloat',
  float32vector: 'float32vector',
  default: 'default',
};

const OTHER_TYPES: Readonly<Record<string, ScalarType>> = {
  'geo:geojson': 'geo',
  float32vector: 'float32vector',
  'xs:[]float32': 'float32vector',
  bigfloat: 'bigfloat',
  // as the peer exports them
  'big:bigfloat': 'bigfloat',
};

/** A typed RDF literal, `"text"^^<iri>`; an empty iri gives a `default` value; of a password see passwordLiteral. Throws INVALID_VALUE. */
export function parseLiteral(text: string, iri: string): Value {
  if (iri === '') return { type: 'default', value: text };
  const type = literalType(iri);
  if (!type) {
    throw invalidValue(`<${iri}> is not a type of literal`, 'Use one such as <xs:string>, <xs:int> or <geo:geojson>.');
  }
  return type === 'password' ? passwordLiteral(text) : convert({ type: 'default', value: text }, type);
}

function literalType(iri: string): ScalarType | undefined {
  const local = iri.startsWith(XML_SCHEMA) ? iri.slice(XML_SCHEMA.length) : iri.startsWith('xs:') ? iri.slice(3) : '';
  if (local !== '' && Object.hasOwn(XML_TYPES, local)) return XML_TYPES[local];
  return Object.hasOwn(OTHER_TYPES, iri) ? OTHER_TYPES[iri] : undefined;
}

const IRIS: Readonly<Record<ScalarType, string>> = {
  default: '',
  string: 'xs:string',
  int: 'xs:int',
  float: 'xs:float',
  bool: 'xs:boolean',
  datetime: 'xs:dateTime',
  geo: 'geo:geojson',
  password: 'xs:password',
  float32vector: 'float32vector',
  bigfloat: 'bigfloat',
};

/** The IRI that RDF output puts behind `^^`; "" where a plain literal does. */
export function literalIri(type: ScalarType): string {
  return IRIS[type];
}

/** The types that a schema may name. */
export const TYPE_NAMES: readonly TypeName[] = [
  'string',
  'int',
  'float',
  'bool',
  'datetime',
  'geo',
  'password',
  'bigfloat',
  'float32vector',
  'uid',
  'default',
];

/** A type by its name in a schema, in any case (`dateTime`). */
export function typeNamed(name: string): TypeName | undefined {
  const lower = name.toLowerCase();
  return TYPE_NAMES.find((type) => type === lower);
}
