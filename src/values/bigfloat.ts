import { invalidValue, shown } from './failure.js';
import { compareBytes, integerBytes } from './ordered-bytes.js';

/** digits / 10^scale */
interface Decimal {
  readonly digits: bigint;
  readonly scale: number;
}

const FORM = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE]([+-]?\d{1,6}))?$/;
/** decimal digits of a number, and how far its exponent may go: text grows with both */
const MAX_DIGITS = 1_000;
/** digits kept by what has no finite answer (division, roots) */
const PRECISION = 60;

/** Canonical decimal text: no exponent, no zeros that say nothing. Throws INVALID_VALUE. */
export function parseBigFloat(text: string): string {
  const match = FORM.exec(text.trim());
  if (!match || text.length > 2 * MAX_DIGITS || Math.abs(Number(match[1] ?? 0)) > MAX_DIGITS) {
    throw invalidValue(`${shown(text)} is not a bigfloat`, `Write a decimal number of at most ${MAX_DIGITS} digits.`);
  }
  return write(read(text.trim()));
}

function read(text: string): Decimal {
  const [mantissa, exponent = '0'] = text.toLowerCase().split('e');
  const [whole, fraction = ''] = mantissa.split('.');
  const sign = whole.startsWith('-') ? -1n : 1n;
  const digits = sign * BigInt(whole.replace(/^[+-]/, '') + fraction || '0');
  const scale = fraction.length - Number(exponent);
  return scale < 0 ? { digits: digits * 10n ** BigInt(-scale), scale: 0 } : { digits, scale };
}

function write({ digits, scale }: Decimal): string {
  const negative = digits < 0n;
  const text = (negative ? -digits : digits).toString().padStart(scale + 1, '0');
  const whole = text.slice(0, text.length - scale);
  const fraction = scale === 0 ? '' : text.slice(text.length - scale).replace(/0+$/, '');
  return `${negative ? '-' : ''}${whole}${fraction ? `.${fraction}` : ''}`;
}

function aligned(a: string, b: string): [bigint, bigint, number] {
  const [x, y] = [read(a), read(b)];
  const scale = Math.max(x.scale, y.scale);
  return [x.digits * 10n ** BigInt(scale - x.scale), y.digits * 10n ** BigInt(scale - y.scale), scale];
}

/** Keeps an answer within the bounds of its type: fraction digits beyond them are cut. */
function bounded(value: Decimal): string {
  const cut = value.scale > MAX_DIGITS ? value.scale - MAX_DIGITS : 0;
  const text = write(cut ? { digits: value.digits / 10n ** BigInt(cut), scale: MAX_DIGITS } : value);
  if (text.length > 3 * MAX_DIGITS) {
    throw invalidValue(`a bigfloat of more than ${MAX_DIGITS} digits`, 'Write fewer digits, or keep it as a string.');
  }
  return text;
}

export function bigAdd(a: string, b: string): string {
  const [x, y, scale] = aligned(a, b);
  return bounded({ digits: x + y, scale });
}

export function bigSubtract(a: string, b: string): string {
  const [x, y, scale] = aligned(a, b);
  return bounded({ digits: x - y, scale });
}

export function bigMultiply(a: string, b: string): string {
  const [x, y] = [read(a), read(b)];
  return bounded({ digits: x.digits * y.digits, scale: x.scale + y.scale });
}

/** To 60 digits behind the point; undefined for a zero divisor. */
export function bigDivide(a: string, b: string): string | undefined {
  const [x, y] = aligned(a, b);
  return y === 0n ? undefined : bounded({ digits: (x * 10n ** BigInt(PRECISION)) / y, scale: PRECISION });
}

/** To 60 digits behind the point; undefined below zero. */
export function bigSqrt(a: string): string | undefined {
  const { digits, scale } = read(a);
  if (digits < 0n) return undefined;
  const even = scale % 2 === 0 ? { digits, scale } : { digits: digits * 10n, scale: scale + 1 };
  return bounded({ digits: root(even.digits * 10n ** BigInt(2 * PRECISION)), scale: even.scale / 2 + PRECISION });
}

/** Whole square root, by Newton from above. */
function root(value: bigint): bigint {
  if (value < 2n) return value;
  let guess = 1n << BigInt(Math.ceil(value.toString(2).length / 2));
  for (;;) {
    const next = (guess + value / guess) >> 1n;
    if (next >= guess) return guess;
    guess = next;
  }
}

export function bigFloor(a: string): string {
  const { digits, scale } = read(a);
  const unit = 10n ** BigInt(scale);
  const whole = digits / unit;
  return (digits < 0n && whole * unit !== digits ? whole - 1n : whole).toString();
}

export function bigCeil(a: string): string {
  const { digits, scale } = read(a);
  const unit = 10n ** BigInt(scale);
  const whole = digits / unit;
  return (digits > 0n && whole * unit !== digits ? whole + 1n : whole).toString();
}

export function bigToNumber(a: string): number {
  return Number(a);
}

/** Bytes in the order of the numbers: sign, place of the first digit, digits; all but the sign inverted below zero. */
export function bigFloatBytes(canonical: string): Uint8Array {
  if (canonical === '0') return Uint8Array.of(1);
  const negative = canonical.startsWith('-');
  const [whole, fraction = ''] = canonical.replace('-', '').split('.');
  const digits = (whole + fraction).replace(/^0+/, '');
  const place = digits.length - fraction.length;
  const body = [...integerBytes(place), ...Buffer.from(digits.replace(/0+$/, '')), 0];
  return Uint8Array.from([negative ? 0 : 2, ...(negative ? body.map((byte) => 255 - byte) : body)]);
}

/** Order of two canonical texts by their bytes. */
export function compareBigFloatText(a: string, b: string): number {
  return compareBytes(bigFloatBytes(a), bigFloatBytes(b));
}
