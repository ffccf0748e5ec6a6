import { type ConstValueNode, type InputValueDefinitionNode, Kind, print, type TypeNode } from 'graphql';
import { type Definitions, position } from '../definition.js';
import type { Rule, RuleContext } from '../rule.js';
import { isInt64, isTime } from '../scalar.js';
import { table } from '../../base/index.js';

/** The default of an argument or of an input's field is a value of its type. */
export const argumentDefault: Rule = {
  name: 'argument-default',
  check(context) {
    const { definitions } = context;
    const nodes = [
      ...[...definitions.objects.values()].map((object) => object.node),
      ...definitions.roots.map((root) => root.node),
    ];
    for (const node of nodes) {
      for (const field of node.fields ?? []) check(context, field.arguments, `${node.name.value}.${field.name.value}`);
    }
    for (const node of definitions.inputs.values()) check(context, node.fields, node.name.value);
  },
};

function check(
  { definitions, report }: RuleContext,
  nodes: readonly InputValueDefinitionNode[] | undefined,
  where: string,
): void {
  for (const node of nodes ?? []) {
    const { defaultValue: value } = node;
    if (!value || fits(definitions, node.type, value)) continue;
    report({
      position: position({ loc: value.loc }),
      message: `the default of ${node.name.value} in ${where}, ${print(value)}, is not a value of ${print(node.type)}`,
      fix: `Give a value of ${print(node.type)}, or no default.`,
    });
  }
}

const GEO = table<Readonly<Record<string, string>>>({
  PointRef: { longitude: 'Float', latitude: 'Float' },
  PointListRef: { points: 'PointRef' },
  PolygonRef: { coordinates: 'PointListRef' },
  MultiPolygonRef: { polygons: 'PolygonRef' },
});

function fits(definitions: Definitions, type: TypeNode, value: ConstValueNode): boolean {
  if (type.kind === Kind.NON_NULL_TYPE) return value.kind !== Kind.NULL && fits(definitions, type.type, value);
  if (value.kind === Kind.NULL) return true;
  if (type.kind === Kind.NAMED_TYPE) return fitsName(definitions, type.name.value, value);
  if (value.kind !== Kind.LIST) return fits(definitions, type.type, value);
  return value.values.every((item) => fits(definitions, type.type, item));
}

function fitsName(definitions: Definitions, name: string, value: ConstValueNode): boolean {
  const enumeration = definitions.enums.get(name);
  if (enumeration) {
    return value.kind === Kind.ENUM && enumeration.values?.some((v) => v.name.value === value.value) === true;
  }
  const input = definitions.inputs.get(name);
  if (input) return fitsFields(definitions, input.fields ?? [], value);
  if (GEO[name]) return fitsGeo(definitions, GEO[name], value);
  const kinds = SCALAR_VALUES[name];
  if (kinds === undefined) return true;
  return kinds.includes(value.kind) && 'value' in value && holds(name, String(value.value));
}

/** What is written as the scalar has to be is a value that it can hold. */
function holds(scalar: string, written: string): boolean {
  if (scalar === 'Int') return (Number(written) | 0) === Number(written);
  if (scalar === 'Int64') return isInt64(written);
  if (scalar === 'Float') return Number.isFinite(Number(written));
  return scalar !== 'DateTime' || isTime(written);
}

/** How the values of each scalar may be written; a name that is not here is another rule's mistake. */
const SCALAR_VALUES = table<readonly Kind[]>({
  ID: [Kind.STRING, Kind.INT],
  Int: [Kind.INT],
  Int64: [Kind.INT, Kind.STRING],
  Float: [Kind.FLOAT, Kind.INT],
  String: [Kind.STRING],
  Boolean: [Kind.BOOLEAN],
  DateTime: [Kind.STRING],
});

function fitsFields(
  definitions: Definitions,
  fields: readonly InputValueDefinitionNode[],
  value: ConstValueNode,
): boolean {
  if (value.kind !== Kind.OBJECT) return false;
  const known = value.fields.every((given) => fields.some((field) => field.name.value === given.name.value));
  return (
    known &&
    fields.every((field) => {
      const given = value.fields.find((f) => f.name.value === field.name.value);
      if (given) return fits(definitions, field.type, given.value);
      return field.type.kind !== Kind.NON_NULL_TYPE || field.defaultValue !== undefined;
    })
  );
}

function fitsGeo(definitions: Definitions, fields: Readonly<Record<string, string>>, value: ConstValueNode): boolean {
  if (value.kind !== Kind.OBJECT || value.fields.length !== Object.keys(fields).length) return false;
  return value.fields.every(({ name, value: given }) => {
    const type = fields[name.value];
    const items = given.kind === Kind.LIST && type?.endsWith('Ref') ? given.values : [given];
    return type !== undefined && items.every((item) => fitsName(definitions, type, item));
  });
}
