import { Cron } from 'croner';
import { asError, GraphsteadError } from '../base/index.js';
import type { Alarm } from './info.js';

// When an alarm rings again.

/** Times of a calendar: five fields of cron, and the IANA time zone whose clocks they mean. */
interface CalendarTimes {
  readonly cron: string;
  readonly zone: string;
}

/** Milliseconds from one round to the next, or times of a calendar. */
export type Rounds = number | CalendarTimes;

/**
 * Times that a handler asks for, checked. Throws INVALID_VALUE for what is no expression of cron, never comes, or names no zone.
 *
 * @returns them, and the first of them after now
 */
export function calendarTimes(cron: string, zone: string, now: number): { times: CalendarTimes; first: number } {
  assertZone(zone);
  const times = { cron: cron.trim(), zone };
  const first = nextTime(checked(times), now);
  if (first !== undefined) return { times, first };
  throw new GraphsteadError('INVALID_VALUE', `"${cron}" is no day of any year`, {
    fix: 'give a day that its month has',
  });
}

/**
 * The first interval's end after now; those that were missed meanwhile are left out. A round that rang before its time, by a clock
 * that was set back since, is no round again; where it was set back by more than an interval, the end after now lies before it.
 */
export function nextInterval(at: number, every: number, wall: number): number {
  const rounds = Math.floor((wall - at) / every) + 1;
  return at + every * (rounds === 0 ? 1 : rounds);
}

/** The round behind the one at `at`, in the same way; undefined where a calendar has none left. */
export function nextRound(at: number, every: Rounds, wall: number): number | undefined {
  if (typeof every === 'number') return nextInterval(at, every, wall);
  const cron = checked(every);
  const next = nextTime(cron, wall);
  return next === at ? nextTime(cron, at) : next;
}

/** Whether the next round lies further away than any that is told now: it was told while the clock stood ahead. */
export function isAstray(at: number, every: Rounds, now: number): boolean {
  const furthest = typeof every === 'number' ? now + every : nextTime(checked(every), now);
  return furthest !== undefined && at > furthest;
}

/** As those who ask for an alarm see it. */
export function toldRounds(every: Rounds | undefined): Pick<Alarm, 'every' | 'cron' | 'zone'> {
  if (every === undefined) return {};
  return typeof every === 'number' ? { every } : every;
}

function nextTime(cron: Cron, after: number): number | undefined {
  return cron.nextRun(new Date(after))?.getTime();
}

/** croner takes moments as well, and more fields: a time to the second would pass by limits.alarmEveryMs. */
function checked({ cron, zone }: CalendarTimes): Cron {
  try {
    if (!cron.startsWith('@') && !cron.includes(' ')) throw new Error('it has one field');
    return new Cron(cron, { timezone: zone, mode: '5-part', paused: true });
  } catch (thrown) {
    const why = asError(thrown).message.replace(/^CronPattern: /, '');
    throw new GraphsteadError('INVALID_VALUE', `"${cron}" is no expression of cron: ${why}`, {
      fix: "give minute, hour, day, month and weekday, as in '0 9 * * MON-FRI'; a moment is a Date, as in new Date('2030-01-31T09:00:00Z')",
    });
  }
}

function assertZone(zone: string): void {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
  } catch {
    throw new GraphsteadError('INVALID_VALUE', `"${zone}" is no time zone`, {
      fix: "give one of the IANA names, as in zone: 'Europe/Berlin'; without one it is UTC",
    });
  }
}
