import { describe, expect, it } from 'vitest';
import { asError, codeOf, GraphsteadError } from './errors.js';

describe('what was thrown, as an error of ours', () => {
  const thrownBy = (work: () => unknown): unknown => {
    try {
      return work();
    } catch (thrown) {
      return thrown;
    }
  };

  it('is itself where it is ours, and INTERNAL with its cause where it is not', () => {
    const ours = new GraphsteadError('NOT_FOUND', 'gone');
    expect(asError(ours)).toBe(ours);
    const other = new TypeError('x is undefined');
    expect(asError(other)).toMatchObject({ code: 'INTERNAL', message: 'x is undefined', cause: other });
    expect(asError('text')).toMatchObject({ code: 'INTERNAL', message: 'text' });
  });

  it('is a limit where input exhausted the stack', () => {
    const dig = (): number => dig() + 1;
    expect(asError(thrownBy(dig))).toMatchObject({ code: 'LIMIT_EXCEEDED', fix: expect.stringContaining('smaller') });
    expect(asError(new RangeError('Invalid string length')).code).toBe('INTERNAL');
  });
});

it('anything thrown has a code, or none', () => {
  const named = Object.assign(new Error('x'), { code: 'ENOENT' });
  const unreadable = {
    get code() {
      throw new Error('not even this');
    },
  };
  expect([named, { code: 'X' }, { code: 5 }, new Error('x'), 'text', null, undefined, unreadable].map(codeOf)).toEqual([
    'ENOENT',
    'X',
    ...Array(6).fill(undefined),
  ]);
});
