import { describe, expect, it } from 'vitest';
import { definitionsOf } from './definitions.js';
import { oneNamespace } from './one-namespace.js';

const TYPES = 'type Person { id: ID! }';

describe('definitionsOf', () => {
  it('leaves a text alone, also one that is no list after all', () => {
    expect(definitionsOf(TYPES, oneNamespace())).toBe(TYPES);
    expect(definitionsOf('[oops', oneNamespace())).toBe('[oops');
    expect(definitionsOf('[1, 2]', oneNamespace())).toBe('[1, 2]');
  });

  it('takes the one that is there out of an export of the peer', () => {
    expect(definitionsOf(`[\n{"namespace":0,"schema":${JSON.stringify(TYPES)}}\n]\n`, oneNamespace())).toBe(TYPES);
    expect(definitionsOf('[]', oneNamespace())).toBe('');
  });

  it('refuses several namespaces', () => {
    const list = [0, 7].map((namespace) => ({ namespace, schema: TYPES }));
    expect(() => definitionsOf(JSON.stringify(list), oneNamespace())).toThrow('namespaces 0x0 and 0x7');
  });
});
