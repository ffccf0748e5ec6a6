import {
  advance,
  assemble,
  type Code,
  get,
  type Local,
  type LoopFunction,
  minus,
  plus,
  repeatWhileBelow,
  set,
  setAndGet,
  sumOf,
  times,
  twoDoubles,
} from './assembler.js';
import { LANES } from './plain.js';

// The loops of `plain.ts` two doubles at a time: sum k takes lanes 2k and 2k + 1. All is added in the order it is added there,
// so both come to the same bits.

const FLOAT_BYTES = 4;
const SUMS = LANES / 2;

const [A, B, END]: readonly Local[] = [0, 1, 2];
const sum = (k: number): Local => 3 + k;
const DIFFERENCE = sum(SUMS);

function loop(name: string, added: (offset: number) => Code): LoopFunction {
  const steps = Array.from({ length: SUMS }, (_, k) => set(sum(k), plus(get(sum(k)), added(k * 2 * FLOAT_BYTES))));
  const all = Array.from({ length: SUMS }, (_, k) => get(sum(k))).reduce(plus);
  const body = [
    ...repeatWhileBelow(A, END, [
      ...steps.flat(),
      ...advance(A, LANES * FLOAT_BYTES),
      ...advance(B, LANES * FLOAT_BYTES),
    ]),
    ...set(sum(0), all),
    ...sumOf(sum(0)),
  ];
  return { name, pointers: 3, vectors: SUMS + 1, body };
}

/** `dot` and `squares` of the floats at two pointers, the first of them up to a third; at least LANES floats, and whole lanes. */
export function kernelModule(pages: number): Uint8Array<ArrayBuffer> {
  return assemble(pages, [
    loop('dot', (offset) => times(twoDoubles(A, offset), twoDoubles(B, offset))),
    loop('squares', (offset) =>
      times(setAndGet(DIFFERENCE, minus(twoDoubles(A, offset), twoDoubles(B, offset))), get(DIFFERENCE)),
    ),
  ]);
}
