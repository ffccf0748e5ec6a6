import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  convert,
  type IndexKind,
  langBase,
  queryTokens,
  type ScalarType,
  tokenizer,
  tokensOf,
} from '../../src/values/index.js';
import { stemmer } from '../../src/values/language/stem.js';
import { stopWords } from '../../src/values/language/stop-word.js';

interface Check {
  readonly kind: string;
  readonly value?: unknown;
  readonly op?: string;
}
interface Case {
  readonly name: string;
  readonly kind: string;
  readonly tokenizer?: string;
  readonly lang?: string;
  readonly variant?: string;
  readonly input: unknown;
  readonly checks?: readonly Check[];
}

const folder = join(process.env['CONFORMANCE'] ?? '../shared/conformance', 'dql', 'unit');
const present = existsSync(folder);
const cases = present
  ? readdirSync(folder)
      .filter((file) => file.startsWith('tok_'))
      .flatMap((file) => (JSON.parse(readFileSync(join(folder, file), 'utf8')) as { cases: Case[] }).cases)
  : [];

function listed(input: unknown): string[] {
  return Object.entries(input as Record<string, string>).map(([, word]) => word);
}

function answer(given: Case): unknown {
  switch (given.kind) {
    case 'langBase':
      return langBase(String(given.input));
    case 'stem':
      return listed(given.input).map(stemmer(given.lang ?? ''));
    case 'stopwords':
      return listed(given.input).filter((word) => !stopWords(given.lang ?? '').has(word));
    default: {
      if (given.input === null) return [];
      const kind = given.tokenizer as IndexKind;
      const [type] = tokenizer(kind).types;
      const value = convert({ type: 'string', value: String(given.input) }, type as ScalarType);
      const find = given.variant ? queryTokens : tokensOf;
      return find(kind, value, given.lang).map((token) => Buffer.from(token).toString());
    }
  }
}

const COMPARE = {
  '>': (a: number, b: number) => a > b,
  '>=': (a: number, b: number) => a >= b,
  '<': (a: number, b: number) => a < b,
  '<=': (a: number, b: number) => a <= b,
  '==': (a: number, b: number) => a === b,
};

function hold(check: Check, actual: unknown): void {
  const tokens = actual as string[];
  const size = tokens.length;
  switch (check.kind) {
    case 'equal': {
      const expected = check.value;
      expect(actual).toEqual(expected !== null && typeof expected === 'object' ? Object.values(expected) : expected);
      break;
    }
    case 'count':
      expect(size).toBe(check.value);
      break;
    case 'countCmp':
      expect(COMPARE[check.op as keyof typeof COMPARE](size, Number(check.value))).toBe(true);
      break;
    case 'includes':
      expect(tokens).toContain(check.value);
      break;
    case 'notIncludes':
      expect(tokens).not.toContain(check.value);
      break;
    case 'sortedUnique':
      expect(tokens).toEqual([...new Set(tokens)].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))));
      break;
    case 'unique':
      expect(tokens).toEqual([...new Set(tokens)]);
      break;
    default:
      throw new Error(`a check of kind ${check.kind} is not known here`);
  }
}

// the cases are not part of this repository
describe.skipIf(!present)('tokenizer cases', () => {
  it.each(cases.map((given) => [given.name, given] as const))('%s', (_, given) => {
    const actual = answer(given);
    for (const check of given.checks ?? []) hold(check, actual);
  });
});
