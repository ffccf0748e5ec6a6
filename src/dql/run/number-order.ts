import { endianness } from 'node:os';
import type { MaybePromise } from '../../base/index.js';

/** Which of the two halves of a number holds its sign, in the memory of this machine. */
const HIGH = endianness() === 'LE' ? 1 : 0;
const DIGITS = 6;
const DIGIT_BITS = 11;
const BUCKETS = 1 << DIGIT_BITS;
/** Numbers that are looked at between two pauses. */
const AT_ONCE = 65_536;

/** The places of numbers in ascending order; those of equal ones stay as they are. Sorted digit by digit, with pauses. */
export async function numberOrder(numbers: Float64Array, pause: () => MaybePromise<void>): Promise<Uint32Array> {
  const { length } = numbers;
  let from = new Uint32Array(length);
  for (let i = 0; i < length; i++) from[i] = i;
  if (await isAscending(numbers, pause)) return from;
  const halves = await halvesOf(numbers, pause);
  let to = new Uint32Array(length);
  for (let digit = 0; digit < DIGITS; digit++) {
    const ends = new Uint32Array(BUCKETS);
    for (let at = 0; at < length; at += AT_ONCE) {
      await pause();
      count(halves, digit, at, Math.min(at + AT_ONCE, length), ends);
    }
    // a digit that all have alike orders nothing
    if (ends.includes(length)) continue;
    const starts = startsOf(ends);
    for (let at = 0; at < length; at += AT_ONCE) {
      await pause();
      scatter(halves, digit, from.subarray(at, at + AT_ONCE), to, starts);
    }
    [from, to] = [to, from];
  }
  return from;
}

async function isAscending(numbers: Float64Array, pause: () => MaybePromise<void>): Promise<boolean> {
  for (let at = 1; at < numbers.length; at += AT_ONCE) {
    await pause();
    const to = Math.min(at + AT_ONCE, numbers.length);
    for (let i = at; i < to; i++) if (numbers[i - 1] > numbers[i]) return false;
  }
  return true;
}

/** The bits of all numbers so that they stand in the order of the numbers when they are taken for integers without a sign. */
async function halvesOf(numbers: Float64Array, pause: () => MaybePromise<void>): Promise<Uint32Array> {
  const halves = new Uint32Array(numbers.slice().buffer);
  for (let at = 0; at < halves.length; at += AT_ONCE) {
    await pause();
    const to = Math.min(at + AT_ONCE, halves.length);
    for (let i = at; i < to; i += 2) {
      const flip = halves[i + HIGH] >>> 31 === 1 ? -1 : 0;
      halves[i + HIGH] ^= flip | 0x80000000;
      halves[i + 1 - HIGH] ^= flip;
    }
  }
  return halves;
}

function digitOf(halves: Uint32Array, place: number, digit: number): number {
  const high = halves[place * 2 + HIGH];
  const low = halves[place * 2 + 1 - HIGH];
  const shift = digit * DIGIT_BITS;
  if (shift >= 32) return (high >>> (shift - 32)) & (BUCKETS - 1);
  const bits = shift + DIGIT_BITS > 32 ? (low >>> shift) | (high << (32 - shift)) : low >>> shift;
  return bits & (BUCKETS - 1);
}

function count(halves: Uint32Array, digit: number, from: number, to: number, counts: Uint32Array): void {
  for (let i = from; i < to; i++) counts[digitOf(halves, i, digit)]++;
}

function startsOf(counts: Uint32Array): Uint32Array {
  const starts = new Uint32Array(counts.length);
  for (let i = 1; i < counts.length; i++) starts[i] = starts[i - 1] + counts[i - 1];
  return starts;
}

/** Puts places where those with their digit go, and moves these starts on. */
function scatter(halves: Uint32Array, digit: number, places: Uint32Array, to: Uint32Array, starts: Uint32Array): void {
  for (let i = 0; i < places.length; i++) to[starts[digitOf(halves, places[i], digit)]++] = places[i];
}

/** The places of pairs of numbers in the order of the first ones, and where these are equal of the second ones. */
export async function pairOrder(
  first: Float64Array,
  second: Float64Array,
  pause: () => MaybePromise<void>,
): Promise<Uint32Array> {
  const bySecond = await numberOrder(second, pause);
  await pause();
  const byFirst = await numberOrder(
    Float64Array.from(bySecond, (at) => first[at]),
    pause,
  );
  await pause();
  return byFirst.map((at) => bySecond[at]);
}
