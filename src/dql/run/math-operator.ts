import { GraphsteadError } from '../../base/index.js';
import {
  bigAdd,
  bigCeil,
  bigDivide,
  bigFloor,
  bigMultiply,
  bigSqrt,
  bigSubtract,
  bigToNumber,
  compareValues,
  parseBigFloat,
  type Value,
} from '../../values/index.js';
import type { MathOperator } from '../syntax/index.js';

/** What the clock says, for `since`. */
export interface MathContext {
  readonly now: number;
}

type Numeric = Extract<Value, { type: 'int' | 'float' | 'bigfloat' }>;
type Vector = Extract<Value, { type: 'float32vector' }>;

const ZERO: Value = { type: 'int', value: 0 };
const LEAST = -(2n ** 63n);
const MOST = 2n ** 63n - 1n;
const NOT_BELOW_ZERO = 'Keep it from values below zero: cond(n < 0, 0, sqrt(n)).';
const VECTORS_TAKE = 'Add, subtract and dot take two vectors; a vector is multiplied, or divided, by a number.';

function mistake(message: string, fix: string): GraphsteadError {
  return new GraphsteadError('INVALID_QUERY', message, { fix });
}

function divisionByZero(): GraphsteadError {
  return mistake('Division by zero', 'Give what would divide by zero another result: cond(n == 0, 0, sum / n).');
}

function invalidType(value: Value, op: string): GraphsteadError {
  return mistake(
    `${op} cannot take a value of type ${value.type}`,
    'Take a variable of a predicate whose type it has.',
  );
}

function float(value: number): Value {
  if (!Number.isFinite(value)) {
    throw mistake('the result is not a finite number', 'Keep it from such values: cond(n > 700, 0, exp(n)).');
  }
  return { type: 'float', value };
}

function bool(value: boolean): Value {
  return { type: 'bool', value };
}

function int(value: bigint): Value {
  if (value < LEAST || value > MOST) {
    throw mistake('Integer overflow', 'Make it a float or a bigfloat, by the type of a predicate or as in 1.0 * n.');
  }
  const small = Number(value);
  return { type: 'int', value: Number.isSafeInteger(small) ? small : value };
}

/**
 * One operator on values of one uid. A missing operand counts as 0, except under comparisons and `cond`, which then
 * have no result. Throws INVALID_QUERY for types that do not fit, overflow, division by zero and what else is no finite
 * number.
 */
export function applyMath(
  op: MathOperator,
  args: readonly (Value | undefined)[],
  context: MathContext,
): Value | undefined {
  switch (op) {
    case 'cond':
      return condition(args);
    case '<':
    case '>':
    case '<=':
    case '>=':
    case '==':
    case '!=':
      return args[0] === undefined || args[1] === undefined ? undefined : bool(compares(op, args[0], args[1]));
    case '&&':
    case '||':
      return logical(op, args[0], args[1]);
    case '!':
      return args[0] && bool(!truth(args[0], op));
    case 'neg':
    case 'sqrt':
    case 'ln':
    case 'exp':
    case 'floor':
    case 'ceil':
    case 'sigmoid':
    case 'since':
      return args[0] && unary(op, args[0], context);
    case 'min':
    case 'max':
      return args.reduce((left, right) => extreme(op, left, right));
    default:
      return args.every((arg) => arg === undefined) ? undefined : binary(op, args[0] ?? ZERO, args[1] ?? ZERO);
  }
}

function condition(args: readonly (Value | undefined)[]): Value | undefined {
  const [test, yes, no] = args;
  if (test === undefined) return undefined;
  if (test.type !== 'bool') {
    throw mistake('cond needs a truth value as its first argument', 'Compare something: cond(n > 0, 1, 0).');
  }
  return test.value ? yes : no;
}

function truth(value: Value, op: string): boolean {
  if (value.type !== 'bool') throw invalidType(value, op);
  return value.value;
}

function logical(op: '&&' | '||', a: Value | undefined, b: Value | undefined): Value | undefined {
  if (a === undefined || b === undefined) return undefined;
  const left = truth(a, op);
  const right = truth(b, op);
  return bool(op === '&&' ? left && right : left || right);
}

/** Order of two values of a kind. Throws INVALID_QUERY on others: a text is neither more nor less than a number. */
function ordered(op: MathOperator, a: Value, b: Value): number {
  if (a.type !== b.type && !(isNumber(a) && isNumber(b)) && !(isText(a) && isText(b))) {
    throw mistake(
      `${op} cannot compare a value of type ${a.type} with one of type ${b.type}`,
      'Compare numbers with numbers, and other values with those of their own type.',
    );
  }
  return compareValues(a, b);
}

function isNumber({ type }: Value): boolean {
  return type === 'int' || type === 'float' || type === 'bigfloat';
}

function isText({ type }: Value): boolean {
  return type === 'string' || type === 'default';
}

function compares(op: MathOperator, a: Value, b: Value): boolean {
  const order = ordered(op, a, b);
  switch (op) {
    case '<':
      return order < 0;
    case '>':
      return order > 0;
    case '<=':
      return order <= 0;
    case '>=':
      return order >= 0;
    case '==':
      return order === 0;
    default:
      return order !== 0;
  }
}

function numeric(value: Value, op: string): Numeric {
  if (value.type === 'int' || value.type === 'float' || value.type === 'bigfloat') return value;
  throw invalidType(value, op);
}

function asNumber(value: Numeric): number {
  return value.type === 'bigfloat' ? bigToNumber(value.value) : Number(value.value);
}

type UnaryOperator = 'neg' | 'sqrt' | 'ln' | 'exp' | 'floor' | 'ceil' | 'sigmoid' | 'since';

function unary(op: UnaryOperator, value: Value, context: MathContext): Value {
  if (op === 'since') {
    if (value.type !== 'datetime') throw invalidType(value, op);
    return float(context.now / 1000 - value.value.seconds - value.value.nanos / 1e9);
  }
  if (op === 'neg' && value.type === 'float32vector') return scaled(value, (x) => 0 - x);
  const operand = numeric(value, op);
  const x = asNumber(operand);
  switch (op) {
    case 'neg':
      if (operand.type === 'int') return int(-BigInt(operand.value));
      return operand.type === 'bigfloat' ? { type: 'bigfloat', value: bigSubtract('0', operand.value) } : float(-x);
    case 'floor':
      if (operand.type === 'int') return operand;
      return operand.type === 'bigfloat' ? { type: 'bigfloat', value: bigFloor(operand.value) } : float(Math.floor(x));
    case 'ceil':
      if (operand.type === 'int') return operand;
      return operand.type === 'bigfloat' ? { type: 'bigfloat', value: bigCeil(operand.value) } : float(Math.ceil(x));
    case 'sqrt':
      return squareRoot(operand, x);
    case 'ln':
      if (x < 0) throw mistake('Log of negative number', NOT_BELOW_ZERO);
      return float(Math.log(x));
    case 'exp':
      return float(Math.exp(x));
    case 'sigmoid':
      return float(1 / (1 + Math.exp(-x)));
  }
}

function squareRoot(operand: Numeric, x: number): Value {
  if (x < 0) throw mistake('Square root of negative number', NOT_BELOW_ZERO);
  if (operand.type !== 'bigfloat') return float(Math.sqrt(x));
  const root = bigSqrt(operand.value);
  if (root === undefined) throw mistake('Square root of negative number', NOT_BELOW_ZERO);
  return { type: 'bigfloat', value: root };
}

function binary(op: MathOperator, a: Value, b: Value): Value {
  if (a.type === 'float32vector' || b.type === 'float32vector') return withVector(op, a, b);
  const left = numeric(a, op);
  const right = numeric(b, op);
  if (op === 'pow' || op === 'logbase') return power(op, asNumber(left), asNumber(right));
  if (left.type === 'bigfloat' || right.type === 'bigfloat') return bigArithmetic(op, left, right);
  if (left.type === 'int' && right.type === 'int')
    return integerArithmetic(op, BigInt(left.value), BigInt(right.value));
  return floatArithmetic(op, asNumber(left), asNumber(right));
}

/** Of an int and a float the answer is a float. What is not a number stands alone where the other is missing. */
function extreme(op: 'min' | 'max', left: Value | undefined, right: Value | undefined): Value | undefined {
  const present = left ?? right;
  if (present === undefined || ((left === undefined || right === undefined) && !isNumber(present))) return present;
  const [a, b] = [left ?? ZERO, right ?? ZERO];
  const order = ordered(op, a, b);
  const chosen = (op === 'min' ? order <= 0 : order >= 0) ? a : b;
  const mixed = a.type !== b.type && chosen.type === 'int' && [a, b].some((value) => value.type === 'float');
  return mixed ? float(Number(chosen.value)) : chosen;
}

function power(op: 'pow' | 'logbase', a: number, b: number): Value {
  if (op === 'pow') {
    if (a < 0 && !Number.isInteger(b)) throw mistake('Fractional power of negative number', NOT_BELOW_ZERO);
    return float(a ** b);
  }
  if (a < 0 || b < 0) throw mistake('Log of negative number', NOT_BELOW_ZERO);
  // Powers of two and ten come out exact, as they do from the dedicated functions.
  if (b === 2) return float(Math.log2(a));
  if (b === 10) return float(Math.log10(a));
  return float(Math.log(a) / Math.log(b));
}

function integerArithmetic(op: MathOperator, a: bigint, b: bigint): Value {
  switch (op) {
    case '+':
      return int(a + b);
    case '-':
      return int(a - b);
    case '*':
      return int(a * b);
    case '/':
    case '%':
      if (b === 0n) throw divisionByZero();
      return int(op === '/' ? a / b : a % b);
    default:
      throw mistake(`${op} needs vectors`, 'Take variables of predicates of type float32vector.');
  }
}

function floatArithmetic(op: MathOperator, a: number, b: number): Value {
  switch (op) {
    case '+':
      return float(a + b);
    case '-':
      return float(a - b);
    case '*':
      return float(a * b);
    case '/':
    case '%':
      if (b === 0) throw divisionByZero();
      return float(op === '/' ? a / b : a % b);
    default:
      throw mistake(`${op} needs vectors`, 'Take variables of predicates of type float32vector.');
  }
}

function decimal(value: Numeric): string {
  return value.type === 'bigfloat' ? value.value : parseBigFloat(String(value.value));
}

function bigArithmetic(op: MathOperator, left: Numeric, right: Numeric): Value {
  const a = decimal(left);
  const b = decimal(right);
  const result = bigResult(op, a, b);
  if (result === undefined) throw divisionByZero();
  return { type: 'bigfloat', value: result };
}

function bigResult(op: MathOperator, a: string, b: string): string | undefined {
  switch (op) {
    case '+':
      return bigAdd(a, b);
    case '-':
      return bigSubtract(a, b);
    case '*':
      return bigMultiply(a, b);
    case '/':
      return bigDivide(a, b);
    case '%': {
      const quotient = bigDivide(a, b);
      if (quotient === undefined) return undefined;
      const whole = quotient.startsWith('-') ? bigCeil(quotient) : bigFloor(quotient);
      return bigSubtract(a, bigMultiply(whole, b));
    }
    default:
      throw mistake(`${op} needs vectors`, 'Take variables of predicates of type float32vector.');
  }
}

function unfit(op: MathOperator, a: Value, b: Value): GraphsteadError {
  return mistake(`${op} cannot take values of type ${a.type} and ${b.type}`, VECTORS_TAKE);
}

function withVector(op: MathOperator, a: Value, b: Value): Value {
  if (a.type === 'float32vector' && b.type === 'float32vector') return twoVectors(op, a, b);
  if (op === '+' || op === '-') throw mistake(`${op} needs two vectors or two numbers`, VECTORS_TAKE);
  const vector = a.type === 'float32vector' ? a : (b as Vector);
  const scalar = asNumber(numeric(a.type === 'float32vector' ? b : a, op));
  if (op === '*') return scaled(vector, (x) => x * scalar);
  if (op === '/' && a.type === 'float32vector') {
    if (scalar === 0) throw divisionByZero();
    return scaled(vector, (x) => x / scalar);
  }
  throw unfit(op, a, b);
}

function twoVectors(op: MathOperator, a: Vector, b: Vector): Value {
  if (op !== '+' && op !== '-' && op !== 'dot') throw unfit(op, a, b);
  if (a.value.length !== b.value.length) {
    throw mistake('the vectors have different lengths', 'Take vectors of as many numbers each.');
  }
  if (op === 'dot') {
    let sum = 0;
    for (let i = 0; i < a.value.length; i++) sum += a.value[i] * b.value[i];
    return float(sum);
  }
  return scaled(a, (x, i) => (op === '+' ? x + b.value[i] : x - b.value[i]));
}

function scaled(vector: Vector, change: (x: number, i: number) => number): Value {
  const out = new Float32Array(vector.value.length);
  for (let i = 0; i < out.length; i++) {
    out[i] = change(vector.value[i], i);
    if (!Number.isFinite(out[i])) throw mistake('Float32 overflow', 'Scale the vector down first: v / 1000.0.');
  }
  return { type: 'float32vector', value: out };
}

/** The sum of two numbers or vectors, as math has it. */
export function addValues(a: Value, b: Value): Value {
  return binary('+', a, b);
}

/** A sum divided by how many there were; never an integer. */
export function divideBy(sum: Value, count: number): Value {
  if (sum.type === 'bigfloat') return { type: 'bigfloat', value: bigDivide(sum.value, String(count)) ?? '0' };
  if (sum.type === 'float32vector') return scaled(sum, (x) => x / count);
  return float(asNumber(numeric(sum, 'avg')) / count);
}
