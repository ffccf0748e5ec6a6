import {
  type GraphQLInputFieldConfig,
  GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLInt,
  GraphQLList,
  GraphQLString,
  type GraphQLEnumType,
} from 'graphql';
import type { Field, SearchKind } from '../../sdl/index.js';
import { type Context, nonNull } from './context.js';
import { containsFilter, intersectsFilter, nearFilter, withinFilter } from './geo.js';
import { means, type ValueOperator } from './meaning.js';
import { GraphQLDateTime, GraphQLFloat, GraphQLInt64 } from './scalar.js';

type Operators = Partial<Record<ValueOperator, GraphQLInputType>>;

function filterType(name: string, operators: Operators): GraphQLInputObjectType {
  const fields: Record<string, GraphQLInputFieldConfig> = {};
  for (const [operator, type] of Object.entries(operators)) {
    fields[operator] = { type, extensions: means({ op: 'compare', operator: operator as ValueOperator }) };
  }
  return new GraphQLInputObjectType({ name, fields, extensions: means({ of: 'valueFilter' }) });
}

function rangeOf(name: string, type: GraphQLInputType): GraphQLInputObjectType {
  return new GraphQLInputObjectType({ name, fields: { min: { type: nonNull(type) }, max: { type: nonNull(type) } } });
}

const hashed = (type: GraphQLInputType): Operators => ({ eq: type, in: new GraphQLList(type) });

const compared = (type: GraphQLInputType, between: GraphQLInputType): Operators => ({
  ...hashed(type),
  le: type,
  lt: type,
  ge: type,
  gt: type,
  between,
});

const IntRange = rangeOf('IntRange', GraphQLInt);
const Int64Range = rangeOf('Int64Range', GraphQLInt64);
const FloatRange = rangeOf('FloatRange', GraphQLFloat);
const DateTimeRange = rangeOf('DateTimeRange', GraphQLDateTime);
const StringRange = rangeOf('StringRange', GraphQLString);

interface Part {
  readonly name: string;
  readonly operators: Operators;
}

const dateTime: Part = { name: 'DateTimeFilter', operators: compared(GraphQLDateTime, DateTimeRange) };
const regexp: Part = { name: 'StringRegExpFilter', operators: { regexp: GraphQLString } };
const polygon: Part = {
  name: 'PolygonGeoFilter',
  operators: { near: nearFilter, within: withinFilter, contains: containsFilter, intersects: intersectsFilter },
};

/** What each kind of search lets a filter ask; Boolean is asked by its value alone. */
const PARTS: Readonly<Partial<Record<SearchKind, Part>>> = {
  int: { name: 'IntFilter', operators: compared(GraphQLInt, IntRange) },
  int64: { name: 'Int64Filter', operators: compared(GraphQLInt64, Int64Range) },
  float: { name: 'FloatFilter', operators: compared(GraphQLFloat, FloatRange) },
  hash: { name: 'StringHashFilter', operators: hashed(GraphQLString) },
  exact: { name: 'StringExactFilter', operators: compared(GraphQLString, StringRange) },
  term: { name: 'StringTermFilter', operators: { allofterms: GraphQLString, anyofterms: GraphQLString } },
  fulltext: { name: 'StringFullTextFilter', operators: { alloftext: GraphQLString, anyoftext: GraphQLString } },
  ngram: { name: 'StringNgramFilter', operators: { ngram: GraphQLString } },
  trigram: regexp,
  regexp,
  year: dateTime,
  month: dateTime,
  day: dateTime,
  hour: dateTime,
  point: { name: 'PointGeoFilter', operators: { near: nearFilter, within: withinFilter } },
  polygon,
  multiPolygon: polygon,
};

/** The searches of a text, or of an enum, by which a filter can ask this. */
export function searchesOfText(operator: string): readonly string[] {
  const parts = Object.entries(PARTS).filter(([, { name }]) => name.startsWith('String'));
  return parts.flatMap(([kind, { operators }]) => (Object.hasOwn(operators, operator) ? kind : []));
}

/** Filters of one kind of search, shared by all schemas. */
const SINGLE = new Map<string, GraphQLInputObjectType>();
for (const part of Object.values(PARTS)) {
  if (!SINGLE.has(part.name)) SINGLE.set(part.name, filterType(part.name, part.operators));
}

/** The parts of an enum's filter: as a string's, but with the enum's values. */
function enumPart(context: Context, kind: SearchKind, type: GraphQLEnumType): Part | undefined {
  if (kind === 'hash') return { name: `${type.name}_hash`, operators: hashed(type) };
  if (kind !== 'exact') return PARTS[kind];
  // the peer's between takes a single value there, which says nothing; ours is a range as elsewhere
  const between = context.ours ? context.once(`${type.name}_range`, () => rangeOf(`${type.name}_range`, type)) : type;
  return { name: `${type.name}_exact`, operators: compared(type, between) };
}

/** The input by which a field is filtered: its kinds in alphabetical order, joined. */
export function valueFilter(context: Context, field: Field, enumType: GraphQLEnumType | undefined): GraphQLInputType {
  const kinds = [...new Set(field.search.map(({ kind }) => kind))].sort();
  const parts = kinds.flatMap((kind) => (enumType ? enumPart(context, kind, enumType) : PARTS[kind]) ?? []);
  const distinct = [...new Map(parts.map((part) => [part.name, part])).values()];
  const name = distinct.map((part) => part.name).join('_');
  const shared = SINGLE.get(name);
  if (shared) return shared;
  return context.once(name, () => filterType(name, Object.assign({}, ...distinct.map((part) => part.operators))));
}
