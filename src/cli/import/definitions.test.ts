import { describe, expect, it } from 'vitest';
import { definitionsOf } from './definitions.js';

const TYPES = 'type Person { id: ID! }';

describe('definitionsOf', () => {
  it('leaves a text alone, also one that is no list after all', () => {
    expect(definitionsOf(TYPES)).toBe(TYPES);
    expect(definitionsOf('[oops')).toBe('[oops');
    expect(definitionsOf('[1, 2]')).toBe('[1, 2]');
  });

  it('takes the one that is there out of an export of the peer', () => {
    expect(definitionsOf(`[\n{"namespace":0,"schema":${JSON.stringify(TYPES)}}\n]\n`)).toBe(TYPES);
    expect(definitionsOf('[]')).toBe('');
  });

  it('refuses several namespaces', () => {
    const list = [0, 7].map((namespace) => ({ namespace, schema: TYPES }));
    expect(() => definitionsOf(JSON.stringify(list))).toThrow('namespaces 0, 7');
  });
});
