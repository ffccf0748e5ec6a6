import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonWriter } from '../base/index.js';
import {
  bigAdd,
  bigDivide,
  bigMultiply,
  bigSqrt,
  bigSubtract,
  checkPassword,
  compareStored,
  compareValues,
  convert,
  convertWhole,
  decodeValue,
  encodeValue,
  formatDateTime,
  parseBigFloat,
  parseDateTime,
  parseLiteral,
  type ScalarType,
  type Value,
  valueText,
  writeValue,
} from './index.js';

const int = fc
  .oneof(fc.maxSafeInteger(), fc.integer({ min: -300, max: 300 }), fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n))
  .map((n): Value => ({ type: 'int', value: Number.isSafeInteger(Number(n)) ? Number(n) : n }));
const float = fc
  .double({ noNaN: true, noDefaultInfinity: true })
  .map((value): Value => ({ type: 'float', value: value || 0 }));
const time = fc
  .record({
    seconds: fc.integer({ min: -62_167_132_800, max: 253_402_200_000 }),
    nanos: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 999_999_999 })),
    offset: fc.integer({ min: -1439, max: 1439 }),
  })
  .map((value): Value => ({ type: 'datetime', value }));
const big = fc
  .tuple(fc.bigInt(), fc.nat(30))
  .map(([digits, scale]): Value => ({ type: 'bigfloat', value: parseBigFloat(`${digits}e-${scale}`) }));
const text = fc.string({ unit: 'binary' }).map((value): Value => ({ type: 'string', value }));
const vector = fc.float32Array({ noNaN: true, noDefaultInfinity: true }).map(
  // -0 shows as 0
  (value): Value => ({ type: 'float32vector', value: value.map((n) => n || 0) }),
);
const bool = fc.boolean().map((value): Value => ({ type: 'bool', value }));
const any = fc.oneof(int, float, time, big, text, vector, bool);

function json(value: Value): string {
  const out = new JsonWriter();
  writeValue(encodeValue(value), out);
  return out.finish().toString();
}

describe('stored values', () => {
  it('are written the same wherever they lie in a buffer', () => {
    fc.assert(
      fc.property(any, (value) => {
        const bytes = encodeValue(value);
        const out = new JsonWriter();
        writeValue(new Uint8Array([1, 2, ...bytes, 3]), out, 2, 2 + bytes.length);
        expect(out.finish().toString()).toBe(json(value));
      }),
    );
  });

  it('come back as they were', () => {
    fc.assert(
      fc.property(any, (value) => {
        expect(decodeValue(encodeValue(value))).toEqual(value);
      }),
    );
  });

  it('have the order of what they hold', () => {
    const pair = fc.oneof(...[int, float, time, big, text].map((one) => fc.tuple(one, one)));
    fc.assert(
      fc.property(pair, ([a, b]) => {
        expect(compareStored(encodeValue(a), encodeValue(b))).toBe(model(a, b));
        expect(compareValues(a, b)).toBe(model(a, b));
      }),
    );
  });

  it('are written as JSON', () => {
    expect(json({ type: 'float', value: 13 })).toBe('13');
    expect(json({ type: 'float', value: 0.1 + 0.2 })).toBe('0.30000000000000004');
    expect(json({ type: 'int', value: 9_223_372_036_854_775_807n })).toBe('9223372036854775807');
    expect(json({ type: 'string', value: 'a "b"\n\u0001é' })).toBe('"a \\"b\\"\\n\\u0001é"');
    expect(json(convert({ type: 'string', value: '[0.1 2, 3e-7]' }, 'float32vector'))).toBe('[0.1,2,3e-7]');
    expect(json(convert({ type: 'string', value: "{'type':'Point','coordinates':[1.1,2]}" }, 'geo'))).toBe(
      '{"type":"Point","coordinates":[1.1,2]}',
    );
    expect(json({ type: 'bigfloat', value: '24704.04924924928640000000002' })).toBe('24704.04924924928640000000002');
  });

  it('keep a JSON text that reads back as the same vector', () => {
    fc.assert(
      fc.property(vector, (value) => {
        expect(Float32Array.from(JSON.parse(json(value)) as number[])).toEqual(value.value);
      }),
    );
  });
});

/** What the order should be, told without bytes. */
function model(a: Value, b: Value): number {
  if (a.type === 'bigfloat' && b.type === 'bigfloat') return Math.sign(Number(bigSubtract(a.value, b.value)));
  if (a.type === 'datetime' && b.type === 'datetime') {
    return Math.sign(a.value.seconds - b.value.seconds) || Math.sign(a.value.nanos - b.value.nanos);
  }
  if (a.type === 'string' && b.type === 'string')
    return Math.sign(Buffer.compare(Buffer.from(a.value), Buffer.from(b.value)));
  return (a.value as number) < (b.value as number) ? -1 : (a.value as number) > (b.value as number) ? 1 : 0;
}

describe('datetimes', () => {
  it.each([
    ['2006', '2006-01-01T00:00:00Z'],
    ['2006-02', '2006-02-01T00:00:00Z'],
    ['2006-01-02', '2006-01-02T00:00:00Z'],
    ['2006-01-02T15:04:05', '2006-01-02T15:04:05Z'],
    ['2002-10-02T15:00:00.050Z', '2002-10-02T15:00:00.05Z'],
    ['2019-03-28T07:41:57+23:00', '2019-03-28T07:41:57+23:00'],
    ['2019-03-28T13:41:57+00:00', '2019-03-28T13:41:57Z'],
    ['0000-02-29T00:00:00-05:30', '0000-02-29T00:00:00-05:30'],
  ])('%s is shown as %s', (written, shown) => {
    expect(formatDateTime(parseDateTime(written))).toBe(shown);
  });

  it.each(['', '20060102', '2006-13', '2006-02-30', '2006-01-02 15:04:05', '2006-01-02T25:00:00Z', 'today'])(
    'refuses %j',
    (written) => {
      expect(() => parseDateTime(written)).toThrow(/is not a date or time/);
    },
  );

  it('agree with the calendar of the platform', () => {
    fc.assert(
      fc.property(fc.integer({ min: -62_167_219_200, max: 253_402_300_799 }), (seconds) => {
        const iso = new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');
        const written = formatDateTime({ seconds, nanos: 0, offset: 0 });
        expect(written).toBe(iso);
        expect(parseDateTime(written).seconds).toBe(seconds);
        expect(json({ type: 'datetime', value: { seconds, nanos: 0, offset: 0 } })).toBe(`"${iso}"`);
      }),
    );
  });
});

describe('conversion', () => {
  const cases: readonly [string, Value, ScalarType, unknown][] = [
    ['text to int', { type: 'default', value: '-12' }, 'int', -12],
    ['int to bool', { type: 'int', value: 2 }, 'bool', true],
    ['float to int', { type: 'float', value: -2.9 }, 'int', -2],
    ['bool to float', { type: 'bool', value: true }, 'float', 1],
    ['int to datetime', { type: 'int', value: 60 }, 'datetime', { seconds: 60, nanos: 0, offset: 0 }],
    ['datetime to float', { type: 'datetime', value: { seconds: 1, nanos: 5e8, offset: 0 } }, 'float', 1.5],
    ['int to string', { type: 'int', value: 7 }, 'string', '7'],
    ['text to bool', { type: 'string', value: 'T' }, 'bool', true],
    ['bigfloat to int', { type: 'bigfloat', value: '-9007199254740993.5' }, 'int', -9007199254740993n],
    ['small bigfloat to int', { type: 'bigfloat', value: '-0.5' }, 'int', 0],
    ['float to bigfloat', { type: 'float', value: 1e-7 }, 'bigfloat', '0.0000001'],
  ];
  it.each(cases)('%s', (_, value, to, expected) => {
    expect(convert(value, to).value).toEqual(expected);
  });

  const refused: readonly [Value, ScalarType][] = [
    [{ type: 'string', value: '1.5' }, 'int'],
    [{ type: 'string', value: '' }, 'int'],
    [{ type: 'string', value: '9223372036854775808' }, 'int'],
    [{ type: 'string', value: 'NaN' }, 'float'],
    [{ type: 'string', value: 'yes' }, 'bool'],
    [{ type: 'string', value: 'short' }, 'password'],
    [{ type: 'bool', value: true }, 'datetime'],
    [{ type: 'datetime', value: { seconds: 0, nanos: 0, offset: 0 } }, 'bool'],
    [{ type: 'int', value: 1 }, 'geo'],
    [{ type: 'float', value: 1e300 }, 'int'],
    [{ type: 'float', value: 1e30 }, 'datetime'],
    [{ type: 'string', value: '[1, two]' }, 'float32vector'],
    [{ type: 'string', value: '{"type":"Point","coordinates":[200, 0]}' }, 'geo'],
  ];
  it.each(refused)('refuses %j as %s', (value, to) => {
    expect(() => convert(value, to)).toThrow(expect.objectContaining({ code: 'INVALID_VALUE' }));
  });

  it('to a whole number refuses a fraction that no double holds', () => {
    const whole = (value: Value) => () => convertWhole(value, 'int').value;
    expect(whole({ type: 'bigfloat', value: '9007199254740993.5' })).toThrow('9007199254740993.5 is not an int');
    expect(whole({ type: 'bigfloat', value: '3.0000000000000000001' })).toThrow(/is not an int/);
    expect(whole({ type: 'float', value: 2.5 })).toThrow('2.5 is not an int');
    expect(whole({ type: 'bigfloat', value: '9007199254740993' })()).toBe(9007199254740993n);
    expect(whole({ type: 'float', value: 2 })()).toBe(2);
  });

  it('text form reads back', () => {
    fc.assert(
      fc.property(fc.oneof(int, float, time, big, bool, vector), (value) => {
        expect(convert({ type: 'default', value: valueText(value) }, value.type)).toEqual(value);
      }),
    );
  });

  it('reads typed literals', () => {
    expect(parseLiteral('13.25', 'xs:float')).toEqual({ type: 'float', value: 13.25 });
    expect(parseLiteral('7', 'http://www.w3.org/2001/XMLSchema#positiveInteger')).toEqual({ type: 'int', value: 7 });
    for (const iri of ['bigfloat', 'xs:bigfloat', 'big:bigfloat']) {
      expect(parseLiteral('123456789012345678901.5', iri)).toEqual({
        type: 'bigfloat',
        value: '123456789012345678901.5',
      });
    }
    expect(() => parseLiteral('x', 'pwd:password')).toThrow(/not a type of literal/);
    expect(() => parseLiteral('', 'xs:int')).toThrow(/not an int/);
  });

  it('hashes passwords once, and checks them', async () => {
    const hashed = convert({ type: 'string', value: 'secret1' }, 'password');
    expect(hashed.value).not.toContain('secret1');
    expect(await checkPassword(String(hashed.value), 'secret1')).toBe(true);
    expect(await checkPassword(String(hashed.value), 'secret2')).toBe(false);
    expect(convert({ type: 'string', value: String(hashed.value) }, 'password')).toEqual(hashed);
  });

  it('leaves the text of a password to what stores it, which never gets it from a conversion', async () => {
    const literal = parseLiteral('secret1', 'xs:password');
    expect(literal).toEqual({ type: 'password', value: 'secret1' });
    expect(() => parseLiteral('short', 'xs:password')).toThrow('the password is too short');
    for (const type of ['password', 'string', 'default'] as const) {
      const { value } = convert(literal, type);
      expect(await checkPassword(String(value), 'secret1')).toBe(true);
      expect(parseLiteral(String(value), 'xs:password')).toEqual({ type: 'password', value });
    }
    expect(() => convert(literal, 'int')).toThrow('cannot become int');
  });
});

describe('hashes of imported passwords', () => {
  it.each([
    ['$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW', 'U*U', true],
    ['$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW', 'U*V', false],
    ['$2b$06$abcdefghijklmnopqrstuuF6UBT1D5UUNzqvRbeZMxN73zeseeM1e', 'secret pässword 123', true],
    ['$2a$31$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW', 'U*U', false],
    ['plain', 'plain', false],
  ])('%s of %s: %s', async (hash, text, expected) => {
    expect(await checkPassword(hash, text)).toBe(expected);
  });
});

describe('bigfloat arithmetic', () => {
  it('is exact where it can be', () => {
    expect(bigAdd('99.0000000000000000000001', '0.0000000000000000000009')).toBe('99.000000000000000000001');
    expect(bigSubtract('1', '1.5')).toBe('-0.5');
    expect(bigMultiply('-1.5', '1.5')).toBe('-2.25');
    expect(bigDivide('123520.2462462464320000000001', '5')).toBe('24704.04924924928640000000002');
    expect(bigDivide('1', '0')).toBeUndefined();
    expect(bigSqrt('2')?.slice(0, 22)).toBe('1.41421356237309504880');
    expect(bigSqrt('-2')).toBeUndefined();
  });
});
