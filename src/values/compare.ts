import type { Value } from './contract.js';
import { compareDateTimes } from './date-time.js';
import { compareStored, encodeValue } from './stored-value.js';
import { compareCodePoints } from './utf8.js';

/**
 * Order of two values: within a type as one expects, numbers across int, float and bigfloat, texts by code point;
 * otherwise by type.
 */
export function compareValues(a: Value, b: Value): number {
  if ((a.type === 'int' || a.type === 'float') && (b.type === 'int' || b.type === 'float')) {
    return a.value < b.value ? -1 : a.value > b.value ? 1 : 0;
  }
  if (a.type === 'datetime' && b.type === 'datetime') return compareDateTimes(a.value, b.value);
  if (isText(a) && isText(b)) return compareCodePoints(a.value, b.value);
  return compareStored(encodeValue(a), encodeValue(b));
}

type TextValue = Extract<Value, { value: string }>;

function isText(value: Value): value is TextValue {
  return value.type === 'string' || value.type === 'default' || value.type === 'password';
}

const collators = new Map<string, Intl.Collator | undefined>();
/** languages that are kept: whoever asks names what he likes */
const KEPT = 200;

/** Order of texts by the collation of a language; by code point where the language has none. */
export function compareTexts(a: string, b: string, lang: string): number {
  if (!collators.has(lang)) {
    if (collators.size >= KEPT) collators.clear();
    collators.set(lang, collatorOf(lang));
  }
  return collators.get(lang)?.compare(a, b) || compareCodePoints(a, b);
}

function collatorOf(lang: string): Intl.Collator | undefined {
  try {
    return Intl.Collator.supportedLocalesOf(lang).length > 0 ? new Intl.Collator(lang) : undefined;
  } catch {
    return undefined;
  }
}
