import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonWriter } from './json-writer.js';

function written(write: (out: JsonWriter) => void): string {
  const out = new JsonWriter(undefined, 4);
  write(out);
  return out.view().toString();
}

describe('numbers', () => {
  it('that are whole are written as JavaScript shows them', () => {
    const any = fc.oneof(
      fc.nat(120),
      fc.integer(),
      fc.maxSafeInteger(),
      fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n }),
    );
    fc.assert(
      fc.property(any, (value) => {
        expect(written((out) => out.integer(value))).toBe(`${value}`);
      }),
    );
  });

  it('of any kind are written as JavaScript shows them', () => {
    const decimal = fc.tuple(fc.integer({ min: -3_000_000, max: 3_000_000 }), fc.constantFrom(1, 10, 1_000, 10_000));
    const any = fc.oneof(
      decimal.map(([units, of]) => units / of),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.constantFrom(0, 0.001, 0.1 + 0.2, 2_147_483.647, 2_147_483.648, 1e21, 5e-324),
    );
    fc.assert(
      fc.property(any, (value) => {
        expect(written((out) => out.number(value))).toBe(`${value}`);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('texts', () => {
  it('are escaped as JSON has it, and take no more room than they need', () => {
    const part = fc.constantFrom('plain ', '"', '\\', '\n', '\r', '\t', '\u0001', '\u001f', 'é', '漢', '😀');
    fc.assert(
      fc.property(fc.array(part), fc.nat(20_000), (parts, before) => {
        const text = 'x'.repeat(before) + parts.join('').repeat(50);
        const bytes = Buffer.from(text);
        expect(JSON.parse(written((out) => out.utf8(bytes)))).toBe(text);
      }),
    );
    const out = new JsonWriter(300_000, 4);
    out.utf8(Buffer.alloc(200_000, 'x'));
    expect(out.length).toBe(200_002);
  });
});

describe('a writer that is done', () => {
  it('leaves its buffer to the next one, and its bytes as they are', () => {
    const first = new JsonWriter();
    first.ascii('x'.repeat(70_000));
    const bytes = first.take();
    const next = new JsonWriter();
    next.ascii('y'.repeat(70_000));
    const other = new JsonWriter();
    other.ascii('z');
    expect(bytes.equals(Buffer.alloc(70_000, 'x'))).toBe(true);
    expect(next.take().equals(Buffer.alloc(70_000, 'y'))).toBe(true);
    expect(other.take().toString()).toBe('z');
    expect(first.length).toBe(0);
  });

  it('leaves no room above the bound of the next one', () => {
    const large = new JsonWriter();
    large.ascii('x'.repeat(200_000));
    large.take();
    const bounded = new JsonWriter(100);
    bounded.ascii('y'.repeat(100));
    expect(() => bounded.byte(0x79)).toThrow('answer exceeds 100 bytes');
  });
});
