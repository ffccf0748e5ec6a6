import { describe, expect, it } from 'vitest';
import { calendarTimes, isAstray, nextRound } from './rounds.js';

const at = (text: string) => Date.parse(text);
const shown = (time: number | undefined) => time && new Date(time).toISOString();
const weekdays = { cron: '0 9 * * MON-FRI', zone: 'Europe/Berlin' };
const nightly = { cron: '30 2 * * *', zone: 'Europe/Berlin' };

describe('times of a calendar', () => {
  it('begin with the first one after now', () => {
    const { first, times } = calendarTimes(' 0 9 * * MON-FRI ', 'Europe/Berlin', at('2026-11-27T08:00:00Z'));
    expect(shown(first)).toBe('2026-11-30T08:00:00.000Z');
    expect(times).toEqual(weekdays);
    expect(shown(calendarTimes('@daily', 'UTC', at('2026-11-27T08:00:00Z')).first)).toBe('2026-11-28T00:00:00.000Z');
  });

  it('go on behind now, and leave out what was missed', () => {
    const monday = at('2026-11-30T08:00:00Z');
    expect(shown(nextRound(monday, weekdays, monday + 10))).toBe('2026-12-01T08:00:00.000Z');
    expect(shown(nextRound(monday, weekdays, at('2026-12-04T12:00:00Z')))).toBe('2026-12-07T08:00:00.000Z');
  });

  it('follow the clocks of their zone: a time that is left out rings behind the gap, one that comes twice rings once', () => {
    expect(shown(nextRound(0, nightly, at('2026-03-28T12:00:00Z')))).toBe('2026-03-29T01:00:00.000Z');
    expect(shown(nextRound(0, nightly, at('2026-03-29T01:00:00Z')))).toBe('2026-03-30T00:30:00.000Z');
    expect(shown(nextRound(0, nightly, at('2026-10-25T00:00:00Z')))).toBe('2026-10-25T00:30:00.000Z');
    expect(shown(nextRound(0, nightly, at('2026-10-25T00:30:00Z')))).toBe('2026-10-26T01:30:00.000Z');
  });

  it('do not ring twice where the clock was set back a little while it rang', () => {
    const monday = at('2026-11-30T08:00:00Z');
    expect(shown(nextRound(monday, weekdays, monday - 2_000))).toBe('2026-12-01T08:00:00.000Z');
  });

  it('are astray where the clock stood ahead when they were told', () => {
    const now = at('2026-11-27T12:00:00Z');
    expect(isAstray(at('2026-11-30T08:00:00Z'), weekdays, now)).toBe(false);
    expect(isAstray(at('2026-12-01T08:00:00Z'), weekdays, now)).toBe(true);
    expect(shown(nextRound(at('2027-11-30T08:00:00Z'), weekdays, now))).toBe('2026-11-30T08:00:00.000Z');
  });

  it.each([
    ['0 9 * *', 'is no expression of cron'],
    ['60 9 * * *', 'Invalid value for minute: 60'],
    ['0 0 9 * * MON', 'has 6 parts'],
    ['@reboot', 'is no expression of cron'],
    ['2026-12-01T00:00:00', 'it has one field'],
    ['', 'it has one field'],
    ['0 0 31 2 *', 'is no day of any year'],
  ])('refuse %j', (cron, message) => {
    expect(() => calendarTimes(cron, 'UTC', 0)).toThrow(
      expect.objectContaining({
        code: 'INVALID_VALUE',
        message: expect.stringContaining(message),
        fix: expect.any(String),
      }),
    );
  });

  it('refuse a zone that nobody knows', () => {
    expect(() => calendarTimes('0 9 * * *', 'Nowhere/Land', 0)).toThrow('"Nowhere/Land" is no time zone');
  });
});
