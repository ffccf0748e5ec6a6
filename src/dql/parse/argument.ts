import type { Position } from '../../base/index.js';
import type { Argument, FunctionCall, FunctionName } from '../syntax/index.js';
import type { ParseContext } from './context.js';
import { invalid } from './invalid.js';
import { uidOf, wholeNumber } from './number.js';
import type { VariableUse } from './variable.js';

type Arguments = Pick<FunctionCall, 'args' | 'listed' | 'options'>;

const GEO: ReadonlySet<FunctionName> = new Set(['near', 'within', 'contains', 'intersects']);

/** Arguments up to the closing bracket, which stays the current token. */
export function parseArguments(context: ParseContext, fn: FunctionName): Arguments {
  const args: Argument[] = [];
  let options: FunctionCall['options'];
  let listed = false;
  context.list(')', 'argument', () => {
    if (fn === 'similar_to' && args.length >= 2) options = parseOption(context, options ?? {});
    else if (context.is('[') && !GEO.has(fn) && fn !== 'similar_to') {
      listed = true;
      parseList(context, fn, args);
    } else parseArgument(context, fn, args);
  });
  return { args, ...(options ? { options } : {}), ...(listed ? { listed } : {}) };
}

/** `[a, "b", 3]`: one argument a member. */
function parseList(context: ParseContext, fn: FunctionName, args: Argument[]): void {
  context.expect('[', 'before a list');
  context.list(']', 'value', () => parseArgument(context, fn, args));
  context.expect(']', 'after a list');
}

function parseArgument(context: ParseContext, fn: FunctionName, args: Argument[]): void {
  const { lexer } = context;
  const position = lexer.position;
  switch (lexer.kind) {
    case 'string':
      args.push(fromText(context, fn, lexer.value, true, position));
      lexer.next();
      break;
    case 'number':
    case '-':
    case '+':
      args.push(fromText(context, fn, takeNumber(context), false, position));
      break;
    case 'variable': {
      const { text, type } = context.takeVariable(useIn(fn));
      if (fn === 'uid' || fn === 'uid_in') uidList(text, position, args);
      else if (fn === 'regexp') args.push(regexpOf(text, position));
      else args.push(fromText(context, fn, text, type === 'string', position));
      break;
    }
    case '/':
      args.push({ kind: 'regexp', ...lexer.regexp(), position });
      lexer.next();
      break;
    case '[':
      args.push({ kind: 'coordinates', text: parseCoordinates(context), position });
      break;
    case 'name':
    case 'iri':
      parseNamed(context, fn, args);
      break;
    default:
      throw context.unexpected(
        `an argument of ${fn}`,
        'Write a number, a text in quotes, a variable such as $a, or a list of them.',
      );
  }
  const dated = args.at(-1)?.kind === 'literal' && (context.is('-') || context.is(':') || context.is('number'));
  if (dated) throw context.unexpected('"," or ")" after a value', 'Put dates and other text in quotes.');
  if (context.is('@')) throw lexer.error('a value takes no language', 'Put it on the predicate: eq(name@en, "Ada").');
}

const useIn = (fn: FunctionName): VariableUse =>
  fn === 'uid' || fn === 'uid_in' ? 'uid' : fn === 'regexp' ? 'regexp' : 'text';

/** Text where a uid is wanted becomes one. */
function fromText(
  context: ParseContext,
  fn: FunctionName,
  text: string,
  quoted: boolean,
  position: Position,
): Argument {
  if (fn === 'uid' || fn === 'uid_in') {
    const uid = text.trim() === '' ? undefined : text;
    if (uid === undefined) throw invalid('the uid is empty', position, 'Write a uid as 0x1f or 31.');
    return { kind: 'uid', uid: uidOf(uid, position, fn), position };
  }
  if (fn === 'type') return { kind: 'literal', text: context.names.stored(text), quoted, position };
  return { kind: 'literal', text, quoted, position };
}

/** `0x1`, or `[0x1, 0x2]` in one text, as a variable may hold; the members may stand in quotes. */
function uidList(text: string, position: Position, args: Argument[]): void {
  const trimmed = text.trim();
  const inner = trimmed.startsWith('[') && trimmed.endsWith(']') ? trimmed.slice(1, -1) : trimmed;
  if (inner.trim() === '' && inner !== trimmed) return;
  for (const part of inner.split(',')) {
    const member = part.trim();
    const quoted = member.length > 1 && member.startsWith('"') && member.endsWith('"');
    const written = quoted ? member.slice(1, -1).trim() : member;
    if (written === '') throw invalid('the variable holds no uid', position, 'Send it as "0x1f" or "[0x1f, 0x20]".');
    args.push({ kind: 'uid', uid: uidOf(written, position), position });
  }
}

/** `/pattern/flags` as a variable holds it. */
function regexpOf(text: string, position: Position): Argument {
  if (text === '') throw invalid('the regular expression is empty', position, 'Send it as "/pattern/flags".');
  const close = text.lastIndexOf('/');
  if (text.charCodeAt(0) !== 0x2f || close === 0) {
    throw invalid(`"${text}" is an invalid regular expression`, position, 'Send it as "/pattern/flags".');
  }
  return { kind: 'regexp', pattern: text.slice(1, close), flags: text.slice(close + 1), position };
}

function takeNumber(context: ParseContext): string {
  const { lexer } = context;
  const sign = lexer.kind === '-' ? '-' : '';
  const signed = sign !== '' || lexer.kind === '+';
  if (signed) lexer.next();
  if (lexer.kind !== 'number') {
    throw context.unexpected(
      signed ? 'a number after its sign' : 'a number',
      'Write it as 12 or 1.5, or as a variable $n.',
    );
  }
  const text = sign + lexer.value;
  lexer.next();
  return text;
}

/** A bare word, a uid variable, `<0x1>`, or `val(x)`, `uid(x)`. */
function parseNamed(context: ParseContext, fn: FunctionName, args: Argument[]): void {
  const { lexer } = context;
  const position = lexer.position;
  const word = lexer.value;
  const bracketed = lexer.kind === 'iri';
  if (!bracketed && lexer.peek() === '(') {
    parseInner(context, fn, args);
    return;
  }
  context.takeName('an argument');
  if (fn === 'uid' && !bracketed) args.push({ kind: 'uidVariable', name: word, position });
  else args.push(fromText(context, fn, word, false, position));
}

function parseInner(context: ParseContext, fn: FunctionName, args: Argument[]): void {
  const position = context.position;
  const inner = context.value.toLowerCase();
  if (inner !== 'val' && inner !== 'uid') {
    throw invalid(
      `${context.value}(...) cannot be an argument of ${fn}`,
      position,
      'Only val(variable) and uid(variable) can.',
    );
  }
  if (inner === 'val' && (fn === 'uid' || fn === 'uid_in')) {
    const fix = fn === 'uid' ? 'Name the variable without val.' : 'Write uid(variable) instead of val(variable).';
    throw invalid(`${fn}(...) takes uid variables`, position, fix);
  }
  context.lexer.next();
  context.lexer.next();
  const before = args.length;
  context.list(')', 'variable', () => {
    if (context.kind !== 'name') {
      throw context.unexpected('a variable', `${inner}(...) inside ${fn}(...) takes variables of this query only.`);
    }
    const name = context.value;
    const at = context.position;
    context.lexer.next();
    args.push(
      inner === 'val' ? { kind: 'value', variable: name, position: at } : { kind: 'uidVariable', name, position: at },
    );
  });
  context.expect(')', `after ${inner}(`);
  if (args.length - before !== 1) {
    throw invalid(
      `${inner}(...) names ${args.length - before} variables`,
      position,
      `Give ${inner}(...) one variable.`,
    );
  }
}

/** Numbers in brackets as JSON text: `[1.0, [2, 3]]`. */
function parseCoordinates(context: ParseContext): string {
  const { lexer } = context;
  lexer.next();
  const parts: string[] = [];
  context.list(']', 'coordinate', () => {
    if (context.is('[')) parts.push(context.nested(() => parseCoordinates(context)));
    else if (context.is('variable')) parts.push(context.takeVariable('number').text);
    else if (context.is('number') || context.is('-') || context.is('+')) parts.push(coordinate(context));
    else throw context.unexpected('a number or "[" in coordinates', 'Write a point as [longitude, latitude].');
  });
  context.expect(']', 'after coordinates');
  return `[${parts.join(',')}]`;
}

function coordinate(context: ParseContext): string {
  const position = context.position;
  const value = Number(takeNumber(context));
  if (!Number.isFinite(value))
    throw invalid('a coordinate is not a number', position, 'Write coordinates as [-122.4, 37.8].');
  return String(value);
}

/** `ef: 64` or `distance_threshold: 0.5` of similar_to. */
function parseOption(
  context: ParseContext,
  options: NonNullable<FunctionCall['options']>,
): NonNullable<FunctionCall['options']> {
  const position = context.position;
  const fix = 'similar_to takes ef: a whole number above 0 and distance_threshold: a number from 0, after the vector.';
  if (context.kind !== 'name') throw context.unexpected('a named option such as ef: 64', fix);
  const name = context.value;
  context.lexer.next();
  context.expect(':', `between ${name} and its value`);
  const text = context.is('variable') ? context.takeVariable('number').text : takeNumber(context);
  const value = Number(text);
  if (name === 'ef' && options.ef === undefined && (wholeNumber(text) ?? 0) > 0) return { ...options, ef: value };
  if (name === 'distance_threshold' && options.distanceThreshold === undefined && value >= 0 && text.trim() !== '') {
    return { ...options, distanceThreshold: value };
  }
  const known = name === 'ef' || name === 'distance_threshold';
  throw invalid(
    known ? `the option ${name} cannot be ${text}, or stands twice` : `similar_to has no option ${name}`,
    position,
    fix,
  );
}
