import { expect, it } from 'vitest';
import { isWithin, momentOf } from './moment.js';

const at = (commitTs: number, wall: string) => ({ commitTs, wall: Date.parse(wall) });

it('takes in what was committed at a time or before', () => {
  for (const text of ['2026-01-31T09:15:00Z', '2026-01-31T10:15+01:00']) {
    const moment = momentOf(text);
    expect(isWithin(moment, at(1, '2026-01-31T09:15:00.000Z'))).toBe(true);
    expect(isWithin(moment, at(1, '2026-01-31T09:15:00.001Z'))).toBe(false);
  }
});

it('takes in a commit by its id in /changes, and those before', () => {
  const moment = momentOf('8b751f6b508f2a2f.58.0');
  expect(moment.incarnation).toBe('8b751f6b508f2a2f');
  expect(isWithin(moment, at(58, '2030-01-01T00:00:00Z'))).toBe(true);
  expect(isWithin(moment, at(59, '2030-01-01T00:00:00Z'))).toBe(false);
});

it.each(['yesterday', '2030-01-01', '2030-01-01T00:00:00', '2030-13-01T00:00:00Z', '58', '8b751f6b508f2a2f.58', ''])(
  'does not guess what %j means',
  (text) => {
    expect(() => momentOf(text)).toThrow(/is no moment/);
  },
);
