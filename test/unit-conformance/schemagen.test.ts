import {
  buildASTSchema,
  getNamedType,
  type GraphQLNamedType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isSpecifiedScalarType,
  isUnionType,
  parse,
  print,
  astFromValue,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { generateSchema } from '../../src/api/schema/index.js';
import { dgraphNames } from '../../src/base/index.js';
import { loadModel } from '../../src/sdl/index.js';
import { failures, present } from './case.js';

interface Shape {
  readonly kind: string;
  readonly members: readonly string[];
}

/** What a client sees of each type that the roots reach. */
function shapes(schema: GraphQLSchema): Map<string, Shape> {
  const found = new Map<string, Shape>();
  const visit = (type: GraphQLNamedType | null | undefined): void => {
    if (!type || found.has(type.name) || isSpecifiedScalarType(type)) return;
    const members: string[] = [];
    found.set(type.name, { kind: type.constructor.name, members });
    if (isEnumType(type)) members.push(...type.getValues().map((v) => v.name));
    if (isUnionType(type)) members.push(...type.getTypes().map((t) => t.name));
    if (isObjectType(type)) members.push(...type.getInterfaces().map((t) => `implements ${t.name}`));
    if (isInputObjectType(type)) members.push(...Object.values(type.getFields()).map((f) => `${f.name}: ${f.type}`));
    if (isObjectType(type) || isInterfaceType(type)) {
      for (const field of Object.values(type.getFields())) {
        const args = field.args.map((a) => {
          const value = a.defaultValue === undefined ? undefined : astFromValue(a.defaultValue, a.type);
          return `${a.name}: ${a.type}${value ? ` = ${print(value)}` : ''}`;
        });
        members.push(`${field.name}(${args.sort().join(', ')}): ${field.type}`);
        visit(getNamedType(field.type));
        for (const argument of field.args) visit(getNamedType(argument.type));
      }
      for (const parent of type.getInterfaces()) visit(parent);
      if (isInterfaceType(type)) for (const object of schema.getPossibleTypes(type)) visit(object);
    }
    if (isUnionType(type)) for (const member of type.getTypes()) visit(member);
    if (isInputObjectType(type)) for (const field of Object.values(type.getFields())) visit(getNamedType(field.type));
    members.sort();
  };
  visit(schema.getQueryType());
  visit(schema.getMutationType());
  visit(schema.getSubscriptionType());
  return found;
}

function differences(want: GraphQLSchema, got: GraphQLSchema): string | undefined {
  const [a, b] = [shapes(want), shapes(got)];
  const problems: string[] = [];
  for (const name of new Set([...a.keys(), ...b.keys()])) {
    const [x, y] = [a.get(name), b.get(name)];
    if (!x || !y) problems.push(`${name} ${x ? 'is missing' : 'is not expected'}`);
    else if (x.kind !== y.kind) problems.push(`${name} is ${y.kind}`);
    else {
      for (const m of x.members) if (!y.members.includes(m)) problems.push(`${name} lacks ${m}`);
      for (const m of y.members) if (!x.members.includes(m)) problems.push(`${name} has ${m}`);
    }
  }
  return problems.length > 0 ? problems.slice(0, 12).join('; ') : undefined;
}

const read = (text: string): GraphQLSchema => buildASTSchema(parse(text), { assumeValid: true, assumeValidSDL: true });
const generate = (text: string) => generateSchema(loadModel(text, { names: dgraphNames }), { names: dgraphNames });

describe.skipIf(!present)('public cases: generated schemas', () => {
  it('generates what clients were generated from', () => {
    expect(failures('schemagen', (c) => differences(read(c.output ?? ''), generate(c.schema).schema))).toEqual([]);
  });

  it('prints what it generates', () => {
    expect(failures('schemagen', (c) => differences(read(c.output ?? ''), read(generate(c.schema).sdl)))).toEqual([]);
  });

  it('tells a gateway what it may know', () => {
    expect(
      failures('apollo-service', (c) => differences(read(c.output ?? ''), read(generate(c.schema).serviceSdl))),
    ).toEqual([]);
  });
});
