import type { JsonWriter } from '../base/index.js';
import type { DateTime } from './contract.js';
import { invalidValue, shown } from './failure.js';

const FORM =
  /^(\d{4})(?:-(\d{2})(?:-(\d{2})(?:[Tt](\d{2}):(\d{2}):(\d{2})(?:[.,](\d{1,9})\d*)?([Zz]|[+-]\d{2}:\d{2})?)?)?)?$/;
const DAY = 86_400;
/** first second of the year 0 and of the year 10000 */
const FIRST = -62_167_219_200;
const END = 253_402_300_800;

/**
 * An instant from RFC 3339 text, or from its shorter forms `2006-01-02T15:04:05`, `2006-01-02`, `2006-01` and `2006`,
 * which are in UTC. Throws INVALID_VALUE.
 */
export function parseDateTime(text: string): DateTime {
  const match = FORM.exec(text);
  if (!match) throw notATime(text);
  const [year, month, day] = [Number(match[1]), Number(match[2] ?? 1), Number(match[3] ?? 1)];
  const [hour, minute, second] = [Number(match[4] ?? 0), Number(match[5] ?? 0), Number(match[6] ?? 0)];
  const offset = offsetMinutes(match[8]);
  const inRange = month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month);
  if (!inRange || hour > 23 || minute > 59 || second > 59 || offset === undefined) throw notATime(text);
  const local = daysFromCivil(year, month, day) * DAY + hour * 3600 + minute * 60 + second;
  return { seconds: local - offset * 60, nanos: match[7] ? Number(match[7].padEnd(9, '0')) : 0, offset };
}

function notATime(text: string): Error {
  return invalidValue(
    `${shown(text)} is not a date or time`,
    'Write it as 2006-01-02T15:04:05Z, 2006-01-02T15:04:05+07:00, 2006-01-02T15:04:05, 2006-01-02, 2006-01 or 2006.',
  );
}

function offsetMinutes(zone: string | undefined): number | undefined {
  if (zone === undefined || zone === 'Z' || zone === 'z') return 0;
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(4, 6))];
  if (hours > 24 || minutes > 59) return undefined;
  return (zone[0] === '-' ? -1 : 1) * (hours * 60 + minutes) || 0;
}

/** RFC 3339 with as many fraction digits as needed, in the offset it was written with. */
export function formatDateTime(time: DateTime): string {
  const local = time.seconds + time.offset * 60;
  const days = Math.floor(local / DAY);
  const rest = local - days * DAY;
  const { year, month, day } = civilFromDays(days);
  const clock = `${two(Math.floor(rest / 3600))}:${two(Math.floor(rest / 60) % 60)}:${two(rest % 60)}`;
  const fraction = time.nanos === 0 ? '' : `.${String(time.nanos).padStart(9, '0').replace(/0+$/, '')}`;
  return `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}T${clock}${fraction}${zone(time.offset)}`;
}

/** `"YYYY-MM-DDTHH:MM:SSZ"` */
const instant = Uint8Array.from('"0000-00-00T00:00:00Z"', (char) => char.charCodeAt(0));

/** Whole seconds since 1970 as a JSON string: what formatDateTime gives, without making a text of it. */
export function writeUtc(seconds: number, out: JsonWriter): void {
  const days = Math.floor(seconds / DAY);
  const rest = seconds - days * DAY;
  const { year, month, day } = civilFromDays(days);
  if (year < 0 || year > 9_999) {
    out.ascii(`"${formatDateTime({ seconds, nanos: 0, offset: 0 })}"`);
    return;
  }
  const century = (year / 100) | 0;
  writeTwo(century, 1);
  writeTwo(year - century * 100, 3);
  writeTwo(month, 6);
  writeTwo(day, 9);
  const hour = (rest / 3_600) | 0;
  const minute = ((rest - hour * 3_600) / 60) | 0;
  writeTwo(hour, 12);
  writeTwo(minute, 15);
  writeTwo(rest - hour * 3_600 - minute * 60, 18);
  out.bytes(instant);
}

function writeTwo(value: number, at: number): void {
  const ten = (value / 10) | 0;
  instant[at] = 0x30 + ten;
  instant[at + 1] = 0x30 + value - ten * 10;
}

function zone(offset: number): string {
  if (offset === 0) return 'Z';
  const size = Math.abs(offset);
  return `${offset < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

function two(value: number): string {
  return value < 10 ? `0${value}` : `${value}`;
}

/** Seconds since 1970 with a fraction, as an instant in UTC. Throws INVALID_VALUE outside the years 0 to 9999. */
export function dateTimeFromSeconds(value: number): DateTime {
  const seconds = Math.floor(value);
  if (!(seconds >= FIRST && seconds < END)) {
    throw invalidValue(
      `${value} seconds is no time in the years 0 to 9999`,
      'Give seconds since 1970, or a text such as 2006-01-02T15:04:05Z.',
    );
  }
  return { seconds, nanos: Math.floor((value - seconds) * 1e9), offset: 0 };
}

/** Order of instants; the offset does not count. */
export function compareDateTimes(a: DateTime, b: DateTime): number {
  return Math.sign(a.seconds - b.seconds) || Math.sign(a.nanos - b.nanos);
}

/** Year, month and day in UTC, and whole hours since 1970. */
export function utcParts(time: DateTime): { year: number; month: number; days: number; hours: number } {
  const days = Math.floor(time.seconds / DAY);
  const { year, month } = civilFromDays(days);
  return { year, month, days, hours: Math.floor(time.seconds / 3600) };
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** Days since 1970-01-01 in the proleptic Gregorian calendar; the year is counted from March so that leap days end it. */
function daysFromCivil(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

function civilFromDays(days: number): { year: number; month: number; day: number } {
  const z = days + 719_468;
  const era = Math.floor(z / 146_097);
  const dayOfEra = z - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shifted = Math.floor((5 * dayOfYear + 2) / 153);
  const month = shifted < 10 ? shifted + 3 : shifted - 9;
  const day = dayOfYear - Math.floor((153 * shifted + 2) / 5) + 1;
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day };
}
