import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { atOnce, type Steps } from '../../src/base/index.js';
import { type Operand, evaluateMath } from '../../src/dql/run/math.js';
import { applyMath } from '../../src/dql/run/math-operator.js';
import type { MathExpression, MathOperator } from '../../src/dql/syntax/index.js';
import type { Value } from '../../src/values/index.js';

/** An operand as the cases write it. */
type Written =
  | { readonly fn: string; readonly args: readonly Written[] }
  | { readonly const: Constant }
  | { readonly perUid: Constant };
interface Constant {
  readonly type: string;
  readonly value: unknown;
}
interface Case {
  readonly name: string;
  readonly input: Written;
  readonly valid: boolean;
  readonly error?: { readonly contains?: readonly string[] };
  readonly checks?: readonly { readonly value: Constant }[];
}

const file = join(process.env['CONFORMANCE'] ?? '../shared/conformance', 'dql', 'unit', 'query_math_test.json');
const present = existsSync(file);
const cases = present ? (JSON.parse(readFileSync(file, 'utf8')) as { cases: Case[] }).cases : [];
const position = { line: 1, column: 1 };

function valueFrom({ type, value }: Constant): Value {
  if (type === 'float32vector') return { type, value: Float32Array.from(value as number[]) };
  if (type !== 'int') return { type, value } as Value;
  const whole = BigInt(value as number);
  return { type, value: Number.isSafeInteger(Number(whole)) ? Number(whole) : whole };
}

/** The case as an expression over variables, one for each operand. */
function expressionOf(written: Written, operands: Map<string, Operand>): MathExpression {
  if ('fn' in written) {
    const op = (written.fn === 'u-' ? 'neg' : written.fn) as MathOperator;
    return { kind: 'apply', op, args: written.args.map((arg) => expressionOf(arg, operands)), position };
  }
  const name = `v${operands.size}`;
  const operand: Operand =
    'const' in written
      ? { constant: valueFrom(written.const) }
      : { column: { uids: Float64Array.of(1), values: [valueFrom(written.perUid)] } };
  operands.set(name, operand);
  return { kind: 'variable', name, position };
}

function evaluate(written: Written): Value | undefined {
  const operands = new Map<string, Operand>();
  const expression = expressionOf(written, operands);
  // biome-ignore lint/correctness/useYield: an operand is there at once
  const operandOf = function* (name: string): Steps<Operand> {
    return operands.get(name) as Operand;
  };
  const result = atOnce(evaluateMath(expression, operandOf, { now: 0 }));
  return 'constant' in result ? result.constant : result.column.values[0];
}

/** Texts of errors are ours, so only that there is one is compared. */
function problem(given: Case): string | undefined {
  let result: Value | undefined;
  try {
    result = evaluate(given.input);
  } catch (error) {
    return given.valid ? String(error) : undefined;
  }
  if (!given.valid) return `gave ${JSON.stringify(result)} where an error was expected`;
  for (const check of given.checks ?? []) {
    const wanted = valueFrom(check.value);
    const same = result !== undefined && applyMath('==', [result, wanted], { now: 0 })?.value === true;
    if (!same && JSON.stringify(result) !== JSON.stringify(wanted)) return `gave ${JSON.stringify(result)}`;
    if (result?.type !== wanted.type) return `gave a ${result?.type}`;
  }
  return undefined;
}

describe.skipIf(!present)('math of the public cases', () => {
  it('computes each, or refuses it', () => {
    const failures = cases.flatMap((given) => {
      const why = problem(given);
      return why === undefined ? [] : [`${given.name}: ${why}`];
    });
    expect(failures).toEqual([]);
    expect(cases.length).toBeGreaterThan(40);
  });
});
