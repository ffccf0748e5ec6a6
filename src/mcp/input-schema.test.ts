import { type GraphQLArgument, GraphQLEnumType, type GraphQLInputType, GraphQLScalarType } from 'graphql';
import { expect, it } from 'vitest';
import { inputSchema } from './input-schema.js';

const argument = (type: GraphQLInputType, defaultValue: unknown) =>
  ({ name: 'given', type, defaultValue }) as GraphQLArgument;

it('tells a default as a caller would write it: by the name of an enum, and with every digit', () => {
  const mood = new GraphQLEnumType({ name: 'Mood', values: { glad: { value: 1 }, grim: { value: 2 } } });
  const number = new GraphQLScalarType({ name: 'Int64' });
  const defaults = [argument(mood, 2), argument(number, 9007199254740993n), argument(number, undefined)].map(
    (one) => inputSchema([one])['properties'],
  );
  expect(defaults).toEqual([
    { given: { type: 'string', enum: ['glad', 'grim'], default: 'grim' } },
    { given: { type: ['integer', 'string'], default: '9007199254740993' } },
    { given: { type: ['integer', 'string'] } },
  ]);
});
