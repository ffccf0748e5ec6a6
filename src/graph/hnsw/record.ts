import { readVarint, varintEnd, varintLength, writeVarint } from '../varint.js';

/** Links of one vector, by level from the ground up. */
export type Links = number[][];

/** Where searches begin, and how many vectors there are. */
export interface Entry {
  readonly uid: number;
  readonly level: number;
  readonly count: number;
  /** names this state of the index: no other one, before or after it, has the same; absent for what is not committed */
  readonly stamp?: number;
}

function encode(numbers: readonly number[]): Uint8Array {
  const out = new Uint8Array(numbers.reduce((sum, number) => sum + varintLength(number), 0));
  numbers.reduce((at, number) => writeVarint(out, at, number), 0);
  return out;
}

function decode(bytes: Uint8Array): number[] {
  const numbers: number[] = [];
  for (let at = 0; at < bytes.length; at = varintEnd(bytes, at)) numbers.push(readVarint(bytes, at));
  return numbers;
}

export function encodeLinks(links: Links): Uint8Array {
  return encode(links.flatMap((level) => [level.length, ...level]));
}

export function decodeLinks(bytes: Uint8Array): Links {
  const numbers = decode(bytes);
  const links: Links = [];
  for (let at = 0; at < numbers.length; at += numbers[at] + 1) links.push(numbers.slice(at + 1, at + 1 + numbers[at]));
  return links;
}

export function encodeEntry({ uid, level, count, stamp }: Entry): Uint8Array {
  return encode(stamp === undefined ? [uid, level, count] : [uid, level, count, stamp]);
}

export function decodeEntry(bytes: Uint8Array): Entry {
  const [uid, level, count, stamp] = decode(bytes) as [number, number, number, number?];
  return { uid, level, count, stamp };
}
