// As much of WebAssembly's binary format as one module of loops over numbers needs. Instructions are written as calls, operands
// within their operation; a place in memory is a pointer of the function and a distance from it.

/** Instructions, one after the other. */
export type Code = readonly number[];

/** A parameter or local variable of a function, by its place among them. */
export type Local = number;

const INT = 0x7f;
const VECTOR = 0x7b;
const DOUBLE = 0x7c;

/** A function of pointers that answers a double. */
export interface LoopFunction {
  readonly name: string;
  readonly pointers: number;
  /** 128-bit variables behind the pointers, zero at first */
  readonly vectors: number;
  readonly body: Code;
}

/** LEB128; the format's sizes and numbers of instructions. */
function unsigned(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...unsigned(value >>> 7)];
}

function signed(value: number): number[] {
  const isLast = value >= -64 && value < 64;
  return isLast ? [value & 127] : [(value & 127) | 128, ...signed(value >> 7)];
}

const simd = (operation: number) => [0xfd, ...unsigned(operation)];

export const get = (local: Local): Code => [0x20, local];
export const set = (local: Local, value: Code): Code => [...value, 0x21, local];
export const setAndGet = (local: Local, value: Code): Code => [...value, 0x22, local];
export const advance = (pointer: Local, bytes: number): Code =>
  set(pointer, [...get(pointer), 0x41, ...signed(bytes), 0x6a]);

/** Does it once, and again for as long as one pointer is below another. */
export const repeatWhileBelow = (pointer: Local, end: Local, body: Code): Code => [
  ...[0x03, 0x40, ...body],
  ...[...get(pointer), ...get(end), 0x49, 0x0d, 0, 0x0b],
];

/** Two floats in memory as two doubles. */
export const twoDoubles = (pointer: Local, offset: number): Code => [
  ...[...get(pointer), ...simd(0x5d), 3, ...unsigned(offset)],
  ...simd(0x5f),
];
export const plus = (a: Code, b: Code): Code => [...a, ...b, ...simd(0xf0)];
export const minus = (a: Code, b: Code): Code => [...a, ...b, ...simd(0xf1)];
export const times = (a: Code, b: Code): Code => [...a, ...b, ...simd(0xf2)];

/** The sum of the two doubles of a variable. */
export const sumOf = (local: Local): Code => [
  ...[...get(local), ...simd(0x21), 0],
  ...[...get(local), ...simd(0x21), 1],
  0xa0,
];

const text = (name: string) => [name.length, ...Buffer.from(name, 'latin1')];
const list = (items: readonly Code[]) => [...unsigned(items.length), ...items.flat()];
const sized = (code: Code) => [...unsigned(code.length), ...code];
const section = (id: number, items: readonly Code[]) => [id, ...sized(list(items))];

/** A module that exports its functions, and so many pages of 64 KiB as `memory`. */
export function assemble(pages: number, functions: readonly LoopFunction[]): Uint8Array<ArrayBuffer> {
  const types = functions.map(({ pointers }) => [0x60, ...list(new Array(pointers).fill([INT])), 1, DOUBLE]);
  const bodies = functions.map(({ vectors, body }) =>
    sized([...list([[...unsigned(vectors), VECTOR]]), ...body, 0x0b]),
  );
  const exported = functions.map(({ name }, i) => [...text(name), 0, i]);
  return Uint8Array.from([
    ...[...Buffer.from('\0asm'), 1, 0, 0, 0],
    ...section(1, types),
    ...section(
      3,
      functions.map((_, i) => [i]),
    ),
    ...section(5, [[1, ...unsigned(pages), ...unsigned(pages)]]),
    ...section(7, [[...text('memory'), 2, 0], ...exported]),
    ...section(10, bodies),
  ]);
}
