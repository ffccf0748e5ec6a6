import type { Position } from '../../base/index.js';
import type { MathExpression, MathOperator } from '../syntax/index.js';
import type { ParseContext } from './context.js';
import { invalid } from './invalid.js';

/** Infix operators from the loosest to the tightest; one level binds to the left. */
const LEVELS: readonly (readonly string[])[] = [
  ['||'],
  ['&&'],
  ['==', '!='],
  ['<', '>', '<=', '>='],
  ['+', '-'],
  ['*', '/', '%', 'dot'],
];
/** operators in one expression: the tree of `a + b + c ...` is as deep as the chain is long */
const MAX_OPERATORS = 1_000;
const UNBOUNDED = Number.POSITIVE_INFINITY;
/** functions with the least and the most operands */
const FUNCTIONS: Readonly<Record<string, readonly [op: MathOperator, least: number, most: number]>> = {
  min: ['min', 2, UNBOUNDED],
  max: ['max', 2, UNBOUNDED],
  sqrt: ['sqrt', 1, 1],
  ln: ['ln', 1, 1],
  exp: ['exp', 1, 1],
  since: ['since', 1, 1],
  pow: ['pow', 2, 2],
  logbase: ['logbase', 2, 2],
  floor: ['floor', 1, 1],
  ceil: ['ceil', 1, 1],
  cond: ['cond', 3, 3],
  dot: ['dot', 2, 2],
  sigmoid: ['sigmoid', 1, 1],
};

/** `(a + b * 2)` after the word math, the bracket being the current token. */
export function parseMath(context: ParseContext): MathExpression {
  const { lexer } = context;
  if (lexer.kind !== '(') throw context.unexpected('"(" after math', 'Write it as math(a + b).');
  lexer.math = true;
  context.operators = 0;
  lexer.next();
  if (context.is(')')) throw lexer.error('math() is empty', 'Put an expression into it, as in math(a + 1).');
  const expression = parseLevel(context, 0);
  if (!context.is(')'))
    throw context.unexpected('an operator or ")" in math(...)', 'Operators are + - * / %, comparisons, && and ||.');
  lexer.math = false;
  lexer.next();
  return expression;
}

function parseLevel(context: ParseContext, level: number): MathExpression {
  const operators = LEVELS[level];
  if (operators === undefined) return parseUnary(context);
  let left = parseLevel(context, level + 1);
  while (
    operators.includes(context.value) &&
    (context.kind !== 'name' || context.value === 'dot') &&
    context.kind !== 'string'
  ) {
    const op = context.value as MathOperator;
    const position = context.position;
    if (++context.operators > MAX_OPERATORS) {
      throw invalid(`math(...) has more than ${MAX_OPERATORS} operators`, position, 'Use several variables.');
    }
    context.lexer.next();
    const right = parseLevel(context, level + 1);
    if ((op === '/' || op === '%') && constantValue(right) === 0) {
      throw invalid('this divides by zero', position, 'Change the divisor.');
    }
    left = { kind: 'apply', op, args: [left, right], position };
  }
  return left;
}

function parseUnary(context: ParseContext): MathExpression {
  const position = context.position;
  if (context.kind !== '-' && context.kind !== '!') return parseOperand(context);
  const op: MathOperator = context.kind === '-' ? 'neg' : '!';
  context.lexer.next();
  return context.nested(() => ({ kind: 'apply', op, args: [parseUnary(context)], position }));
}

function parseOperand(context: ParseContext): MathExpression {
  const { lexer } = context;
  const position = lexer.position;
  if (lexer.kind === '(') {
    lexer.next();
    const inner = context.nested(() => parseLevel(context, 0));
    context.expect(')', 'to close the bracket in math(...)');
    return inner;
  }
  if (lexer.kind === 'number') return parseNumber(context);
  if (lexer.kind === 'variable') {
    const { text, type } = context.takeVariable('number');
    if (text === '') throw invalid('a variable without a value stands in math(...)', position, 'Send its value.');
    return { kind: 'constant', text, type: type ?? constantType(text) ?? 'string', position };
  }
  if (lexer.kind === 'string') return constant(context, 'string');
  if (lexer.kind === 'name') return parseNamed(context, position);
  throw context.unexpected(
    '2 operands around each operator in math(...), a variable or a number',
    'Write it as math(a + b * 2), with a bracket for each that was opened.',
  );
}

function parseNumber(context: ParseContext): MathExpression {
  const type = constantType(context.value);
  if (type === undefined) throw context.unexpected('a number', 'Write numbers as 12, 1.5, 1e3 or 0x1f.');
  return constant(context, type);
}

function constant(context: ParseContext, type: 'int' | 'float' | 'bool' | 'string'): MathExpression {
  const node: MathExpression = { kind: 'constant', text: context.value, type, position: context.position };
  context.lexer.next();
  return node;
}

function constantType(text: string): 'int' | 'float' | 'bool' | undefined {
  if (text === 'true' || text === 'false') return 'bool';
  if (text.trim() === '' || Number.isNaN(Number(text))) return undefined;
  return text.includes('.') || (/e/i.test(text) && !/^[+-]?0x/i.test(text)) ? 'float' : 'int';
}

function parseNamed(context: ParseContext, position: Position): MathExpression {
  const name = context.value;
  if (context.lexer.peek() === '(') return parseCall(context, name, position);
  context.lexer.next();
  if (name === 'true' || name === 'false') return { kind: 'constant', text: name, type: 'bool', position };
  return { kind: 'variable', name, position };
}

function parseCall(context: ParseContext, name: string, position: Position): MathExpression {
  const known = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined;
  if (known === undefined) {
    throw invalid(`math has no function ${name}`, position, `It has ${Object.keys(FUNCTIONS).join(', ')}.`);
  }
  const [op, least, most] = known;
  context.lexer.next();
  context.lexer.next();
  const args: MathExpression[] = [];
  context.list(')', 'operand', () => {
    args.push(context.nested(() => parseLevel(context, 0)));
  });
  context.expect(')', `after the operands of ${name}`);
  if (args.length < least || args.length > most) {
    const wanted = most === UNBOUNDED ? `at least ${least}` : String(least);
    throw invalid(`${name} takes ${wanted} operands, found ${args.length}`, position, `Give it ${wanted}.`);
  }
  return { kind: 'apply', op, args, position };
}

/** The number a constant expression stands for; undefined when it needs a variable. */
function constantValue(expression: MathExpression): number | undefined {
  if (expression.kind === 'variable') return undefined;
  if (expression.kind === 'constant') {
    const value = Number(expression.text);
    return Number.isNaN(value) ? undefined : value;
  }
  const args: number[] = [];
  for (const arg of expression.args) {
    const value = constantValue(arg);
    if (value === undefined) return undefined;
    args.push(value);
  }
  return fold(expression.op, args[0], args[1]);
}

function fold(op: MathOperator, a: number, b: number): number | undefined {
  switch (op) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      return a / b;
    case '%':
      return a % b;
    case 'neg':
      return 0 - a;
    case 'sqrt':
      return Math.sqrt(a);
    case 'ln':
      return Math.log(a);
    case 'exp':
      return Math.exp(a);
    case 'floor':
      return Math.floor(a);
    case 'ceil':
      return Math.ceil(a);
    case 'pow':
      return a ** b;
    default:
      return undefined;
  }
}
