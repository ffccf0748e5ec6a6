import { serialize } from 'node:v8';
import { describe, expect, it } from 'vitest';
import { unsendable } from './unsendable.js';

const circle: Record<string, unknown> = { name: 'a' };
circle['self'] = circle;

describe('what no other process can be given', () => {
  it.each([
    [{ user: Promise.resolve('b') }, '.user', 'a promise'],
    [[{ a: 1 }, { save: () => undefined }], '[1].save', 'a function'],
    [new Map([['key', [Symbol('s')]]]), '{}[0]', 'a symbol'],
    [new Set([new WeakMap()]), '{}', 'a WeakMap'],
    [() => 1, '', 'a function'],
    [{ circle, last: () => 1 }, '.last', 'a function'],
  ])('is told with its place: %o', (value, path, what) => {
    expect(() => serialize(value)).toThrow('could not be cloned');
    expect(unsendable(value)).toMatchObject({ path, what });
  });

  it.each([
    [
      {
        list: [
          {
            get user() {
              throw new Error('detached');
            },
          },
        ],
      },
      '.list[0].user',
      'a getter that throws when it is read: detached',
    ],
    [
      {
        lazy: new Proxy(
          {},
          {
            ownKeys() {
              throw new Error('closed');
            },
          },
        ),
      },
      '.lazy',
      'an object that throws when it is read: closed',
    ],
  ])('is told where it throws when it is read: %#', (value, path, what) => {
    expect(() => serialize(value)).toThrow();
    expect(unsendable(value)).toMatchObject({ path, what });
  });

  it.each([[circle], [{ at: new Date(0), bytes: new Uint8Array(3), big: 1n, none: undefined, text: 'a' }]])(
    'is nothing of %o',
    (value) => {
      serialize(value);
      expect(unsendable(value)).toBeUndefined();
    },
  );
});
