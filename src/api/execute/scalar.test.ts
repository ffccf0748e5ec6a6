import { GraphQLFloat, GraphQLInt, GraphQLString } from 'graphql';
import { describe, expect, it } from 'vitest';
import { leafJson } from './scalar.js';

describe('values of remotes', () => {
  it.each([
    ['23', '23'],
    ['23.00', '23'],
    ['-2e3', '-2000'],
    ['.5', undefined],
    ['0x10', undefined],
    ['0b1', undefined],
    [' 5 ', undefined],
    ['', undefined],
    [`${'1'.repeat(1_000_000)}x`, undefined],
  ])('become Int from decimal text alone: %.20s', (text, json) => {
    expect(leafJson(GraphQLInt, text)).toBe(json);
  });

  it('become Float from decimal text', () => {
    expect([leafJson(GraphQLFloat, '.5'), leafJson(GraphQLFloat, 'Infinity')]).toEqual(['0.5', undefined]);
  });

  it('are no text where they are past what a number holds', () => {
    expect(leafJson(GraphQLString, JSON.parse('1e400'))).toBeUndefined();
    expect(leafJson(GraphQLString, 2.5)).toBe('"2.5"');
  });
});
