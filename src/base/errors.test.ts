import { describe, expect, it } from 'vitest';
import { asError, assert, cancelled, codeOf, GraphsteadError, toWire } from './errors.js';

const thrownBy = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (thrown) {
    return thrown;
  }
};

describe('what was thrown, as an error of ours', () => {
  it('is itself where it is ours, and INTERNAL with its cause where it is not', () => {
    const ours = new GraphsteadError('NOT_FOUND', 'gone', { fix: 'look elsewhere' });
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

it('every error goes out with what to do about it, also what nobody foresaw', () => {
  const broken = thrownBy(() => assert(false, 'two and two'));
  for (const error of [asError(new TypeError('x is undefined')), asError(broken)]) {
    expect(toWire(error)).toMatchObject({ extensions: { code: 'INTERNAL', fix: /report it/ } });
  }
  expect(toWire(cancelled('the caller left'))).toMatchObject({
    extensions: { code: 'CANCELLED', fix: /send a change/ },
  });
});
