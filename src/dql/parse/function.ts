import type { Position } from '../../base/index.js';
import type { Argument, Filter, FunctionCall, FunctionName } from '../syntax/index.js';
import { parseArguments } from './argument.js';
import type { ParseContext } from './context.js';
import { invalid } from './invalid.js';
import { parseSubject } from './subject.js';

/** Where a call stands: some are allowed in one place only. */
type CallPlace = 'root' | 'filter' | 'condition';

/** Functions with the least and the most arguments after their subject. A list counts as one. */
const ARITY: Readonly<Record<FunctionName, readonly [least: number, most: number]>> = {
  uid: [0, Number.POSITIVE_INFINITY],
  type: [1, 1],
  has: [0, 0],
  eq: [1, Number.POSITIVE_INFINITY],
  le: [1, 1],
  lt: [1, 1],
  ge: [1, 1],
  gt: [1, 1],
  between: [2, 2],
  allofterms: [1, 1],
  anyofterms: [1, 1],
  alloftext: [1, 1],
  anyoftext: [1, 1],
  regexp: [1, 1],
  match: [2, 2],
  ngram: [1, 1],
  uid_in: [1, Number.POSITIVE_INFINITY],
  near: [2, 2],
  within: [1, 1],
  contains: [1, 1],
  intersects: [1, 1],
  similar_to: [2, 2],
  checkpwd: [1, 1],
};

/** How conditions stand beside each other. */
export const JOINED = 'Join conditions by "and", "or" and "not", and close each bracket.';
/** words with brackets that stand inside of calls and cannot be calls */
const VALUES: ReadonlySet<string> = new Set(['val', 'count', 'len', 'math']);
const COMPARISONS: ReadonlySet<FunctionName> = new Set(['eq', 'le', 'lt', 'ge', 'gt', 'between']);

/** `( ... )` of @filter and @if, the opening bracket being the current token; undefined when it is empty. */
export function parseFilter(context: ParseContext, place: CallPlace): Filter | undefined {
  context.expect('(', 'before the condition', 'Write the condition in brackets, as in (eq(name, "Ada")).');
  if (context.accept(')')) return undefined;
  const filter = parseAny(context, place);
  context.expect(')', 'or "and", "or" after a condition', JOINED);
  return filter;
}

function parseAny(context: ParseContext, place: CallPlace): Filter {
  return context.joined('or', () => context.joined('and', () => parseOne(context, place)));
}

function parseOne(context: ParseContext, place: CallPlace): Filter {
  return context.nested(() => {
    if (context.isWord('not')) {
      context.lexer.next();
      return { kind: 'not', child: parseOne(context, place) };
    }
    if (context.accept('(')) {
      const inner = parseAny(context, place);
      context.expect(')', 'to close the bracket, or "and", "or"', JOINED);
      return inner;
    }
    return { kind: 'call', call: parseCall(context, place) };
  });
}

/** One call: `eq(name, "Ada")`, `uid(0x1, v)`, `has(~friend)`. */
export function parseCall(context: ParseContext, place: CallPlace): FunctionCall {
  const { lexer } = context;
  const position = lexer.position;
  if (lexer.kind !== 'name')
    throw context.unexpected(
      'a function such as eq(name, "Ada")',
      'Write the name of a function and its arguments in brackets.',
    );
  const name = lexer.value.toLowerCase();
  const written = lexer.value;
  lexer.next();
  context.expect('(', `after the function ${written}`, `A condition is a function, as in eq(${written}, "Ada").`);
  if (VALUES.has(name)) {
    const compared = name === 'math' ? 'val(x)' : `${name}(x)`;
    throw invalid(`${written}(...) is a value and no condition`, position, `Compare it, as in eq(${compared}, 1).`);
  }
  const known = Object.hasOwn(ARITY, name);
  if (!known) {
    context.refuse(`there is no function ${written}`, position, `Use one of ${Object.keys(ARITY).join(', ')}.`);
  }
  const call = parseBody(context, name as FunctionName, position);
  context.expect(')', `or "," in the arguments of ${written}`);
  if (known) checkCall(context, call, place);
  return call;
}

function parseBody(context: ParseContext, name: FunctionName, position: Position): FunctionCall {
  if (name === 'uid' || name === 'type') return { name, ...parseArguments(context, name), position };
  if (context.is(')')) {
    throw context.lexer.error(`${name}() has no arguments`, `Name a predicate, as in ${name}(name, ...).`);
  }
  const subject = parseSubject(context, name);
  if (!context.accept(',')) return { name, subject, args: [], position };
  if (context.is(')')) throw context.unexpected('an argument after ","', 'Remove the comma.');
  return { name, subject, ...parseArguments(context, name), position };
}

function checkCall(context: ParseContext, call: FunctionCall, place: CallPlace): void {
  const { name, args, position, subject } = call;
  const [least, most] = ARITY[name];
  if ((args.length < least && !call.listed) || args.length > most) {
    const wanted = least === most ? String(least) : `at least ${least}`;
    context.refuse(
      `${name} takes ${wanted} argument${wanted === '1' ? '' : 's'} after what it is asked of, found ${args.length}`,
      position,
      name === 'eq' ? 'Give it a value, or a list of values in brackets.' : `Give it ${wanted}.`,
    );
  }
  if ((subject?.kind === 'predicate' || subject?.kind === 'count') && subject.name === 'uid') {
    context.refuse(
      `${name} cannot be asked of uid, which is no predicate`,
      position,
      'Choose nodes by uid(0x1f) or uid(variable), and count those of a block by count(uid) among its fields.',
    );
  }
  if (place === 'root' && name === 'uid_in') {
    context.refuse(
      'a block cannot start from uid_in',
      position,
      'Start from another function and use uid_in in @filter.',
    );
  }
  if (place === 'root' && name === 'checkpwd') {
    context.refuse('checkpwd is not allowed at the root of a block', position, 'Use it in @filter or as a field.');
  }
  if (place === 'root' && subject?.kind === 'length') {
    context.refuse(
      'a block cannot start from len(...)',
      position,
      'Start from uid(variable) and use len(variable) in @filter.',
    );
  }
  const compares = subject?.kind === 'length' || subject?.kind === 'value';
  if (place !== 'condition' && (compares || subject?.kind === 'count') && !COMPARISONS.has(name)) {
    const word = subject.kind === 'length' ? 'len' : subject.kind === 'value' ? 'val' : 'count';
    context.refuse(
      `${name} cannot be asked of ${word}(...)`,
      position,
      `Ask it of a predicate, or compare ${word}(...) by ${[...COMPARISONS].join(', ')}.`,
    );
  }
  if (place === 'condition' && !(compares && COMPARISONS.has(name))) {
    context.refuse(
      `@if cannot ask ${name} of a predicate`,
      position,
      'Compare len(variable) or val(variable) with a value.',
    );
  }
  if (name === 'regexp') checkRegexp(context, args[0]);
}

function checkRegexp(context: ParseContext, pattern: Argument | undefined): void {
  if (pattern === undefined) return;
  if (pattern.kind !== 'regexp') {
    context.refuse(
      'regexp needs a pattern after the predicate',
      pattern.position,
      'Write it between slashes, as in /^A.*a$/i.',
    );
  } else if (pattern.flags !== '' && pattern.flags !== 'i') {
    context.refuse(
      `unknown flags "${pattern.flags}" of a regular expression`,
      pattern.position,
      'Only i (any case) is known.',
    );
  } else if (pattern.pattern === '') {
    context.refuse('the regular expression is empty', pattern.position, 'Put a pattern between the slashes.');
  }
}
