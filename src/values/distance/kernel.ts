import type { DistanceLoops } from './contract.js';
import { kernelModule } from './kernel-module.js';
import { PLAIN } from './plain.js';

const PAGE_BYTES = 65_536;
const FLOAT_BYTES = Float32Array.BYTES_PER_ELEMENT;

/** Room for one vector on each side; longer ones are left to JavaScript. */
const SLOT_PAGES = 2;
const MOST_NUMBERS = (SLOT_PAGES * PAGE_BYTES) / FLOAT_BYTES;

/** Below so many numbers a copy and a call cost more than they save. */
const FEWEST_NUMBERS = 64;

type Loop = (a: number, b: number, end: number) => number;

interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer };
  readonly dot: Loop;
  readonly squares: Loop;
}

/** WebAssembly as far as it is needed here; absent from an engine that compiles nothing. */
export interface WasmEngine {
  readonly Module: new (bytes: Uint8Array<ArrayBuffer>) => object;
  readonly Instance: new (module: object) => { readonly exports: object };
}

/**
 * The loops in WebAssembly, for vectors that are long enough. One of its two slots keeps the vector that it was asked for last as
 * the first of two: a search compares one with many. Vectors must not change afterwards.
 */
class Kernel implements DistanceLoops {
  readonly #exports: Exports;
  readonly #memory: Float32Array;
  #held: Float32Array | undefined;

  constructor(exports: Exports) {
    this.#exports = exports;
    this.#memory = new Float32Array(exports.memory.buffer);
  }

  dot(a: Float32Array, b: Float32Array, length: number): number {
    if (!takes(a, b, length)) return PLAIN.dot(a, b, length);
    if (a !== b) return this.#exports.dot(this.#hold(a), this.#put(b), length * FLOAT_BYTES);
    // by itself, and what is held stays
    const at = this.#put(b);
    return this.#exports.dot(at, at, at + length * FLOAT_BYTES);
  }

  squares(a: Float32Array, b: Float32Array, length: number): number {
    if (!takes(a, b, length)) return PLAIN.squares(a, b, length);
    return this.#exports.squares(this.#hold(a), this.#put(b), length * FLOAT_BYTES);
  }

  #hold(vector: Float32Array): number {
    if (this.#held !== vector) {
      this.#memory.set(vector);
      this.#held = vector;
    }
    return 0;
  }

  #put(vector: Float32Array): number {
    this.#memory.set(vector, MOST_NUMBERS);
    return MOST_NUMBERS * FLOAT_BYTES;
  }
}

function takes(a: Float32Array, b: Float32Array, length: number): boolean {
  return length >= FEWEST_NUMBERS && a.length <= MOST_NUMBERS && b.length <= MOST_NUMBERS;
}

/** The fastest loops that an engine has: JavaScript's where it knows no WebAssembly, or no vectors in it, or has no room for it. */
export function loopsOf(engine: WasmEngine | undefined): DistanceLoops {
  if (!engine) return PLAIN;
  try {
    const module = new engine.Module(kernelModule(2 * SLOT_PAGES));
    return new Kernel(new engine.Instance(module).exports as Exports);
  } catch {
    return PLAIN;
  }
}

let loops: DistanceLoops | undefined;

/** The loops of this process, made when they are first asked for. */
export function distanceLoops(): DistanceLoops {
  loops ??= loopsOf((globalThis as { readonly WebAssembly?: WasmEngine }).WebAssembly);
  return loops;
}
