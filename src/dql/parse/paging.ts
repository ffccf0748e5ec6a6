import type { Position } from '../../base/index.js';
import type { FunctionCall, OrderKey, Page, ShortestArgs, UidArgument } from '../syntax/index.js';
import type { ParseContext } from './context.js';
import { invalid } from './invalid.js';
import { parseCall } from './function.js';
import { uidOf, wholeNumber } from './number.js';
import { parseLangs, predicateName } from './subject.js';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Everything that may stand in the brackets after a block's name or a predicate. */
export interface BlockArguments {
  root?: FunctionCall;
  page: Mutable<Page>;
  order: OrderKey[];
  shortest: Mutable<Partial<ShortestArgs>>;
}

type ArgumentPlace = 'root' | 'shortest' | 'predicate';

export const PAGE_KEYS: ReadonlySet<string> = new Set(['first', 'offset', 'after', 'orderasc', 'orderdesc', 'random']);
const SHORTEST_KEYS: Readonly<Record<string, keyof ShortestArgs>> = {
  from: 'from',
  to: 'to',
  numpaths: 'numPaths',
  depth: 'depth',
  minweight: 'minWeight',
  maxweight: 'maxWeight',
  maxfrontiersize: 'maxFrontierSize',
};

export function noArguments(): BlockArguments {
  return { page: {}, order: [], shortest: {} };
}

/** `(first: 2, orderasc: name, ...)`, the opening bracket being the current token. Adds to `into`. */
export function parseArgumentList(context: ParseContext, place: ArgumentPlace, into: BlockArguments): void {
  context.expect('(', 'before the arguments');
  context.list(')', 'argument', () => parseArgument(context, place, into));
  context.expect(
    ')',
    'or "," after an argument',
    'Conditions beside the function stand in @filter(...), behind the ")".',
  );
}

function parseArgument(context: ParseContext, place: ArgumentPlace, into: BlockArguments): void {
  const position = context.position;
  const written = context.takeName('an argument such as first: 10');
  const key = written.toLowerCase();
  const shortest = place === 'shortest' && Object.hasOwn(SHORTEST_KEYS, key);
  if (!(PAGE_KEYS.has(key) || shortest || (key === 'func' && place === 'root'))) {
    const known = [
      ...(place === 'root' ? ['func'] : []),
      ...(place === 'shortest' ? Object.keys(SHORTEST_KEYS) : []),
      ...PAGE_KEYS,
    ];
    const call = place === 'root' && context.is('(');
    const fix = call ? `Write func: ${written}(...).` : `Use one of ${known.join(', ')}.`;
    throw invalid(`there is no argument ${written} here`, position, fix);
  }
  context.expect(':', `between ${written} and its value`);
  if (context.is(')') || context.is(','))
    throw context.unexpected(`a value for ${written}`, 'Write it behind the colon, or remove the argument.');
  if (key === 'func') {
    if (into.root) {
      throw invalid('the block has two functions to start from', position, 'Put the second one into @filter.');
    }
    into.root = parseCall(context, 'root');
  } else if (shortest) parseShortest(context, SHORTEST_KEYS[key], into.shortest, position);
  else parsePage(context, key, into, position);
}

function parsePage(context: ParseContext, key: string, into: BlockArguments, position: Position): void {
  if (key === 'orderasc' || key === 'orderdesc') {
    into.order.push(parseOrder(context, key === 'orderdesc'));
    return;
  }
  const { page } = into;
  const name = key as keyof Page;
  if (page[name] !== undefined) throw invalid(`the argument ${key} stands twice`, position, 'Remove one of them.');
  if (name === 'after') {
    page.after = parseUidArgument(context, 'after');
    return;
  }
  const value = parseWhole(context, key);
  if (name !== 'first' && value < 0) {
    throw invalid(`${key} cannot be negative`, position, `Give ${key} a number from 0.`);
  }
  page[name] = value;
}

function parseOrder(context: ParseContext, descending: boolean): OrderKey {
  const { lexer } = context;
  const position = lexer.position;
  if (lexer.kind === 'name' && lexer.peek() === '(') {
    const word = lexer.value.toLowerCase();
    if (word !== 'val') {
      throw invalid(`cannot order by ${lexer.value}(...)`, position, 'Order by a predicate or by val(variable).');
    }
    return { by: { kind: 'variable', name: takeVariable(context) }, descending, position };
  }
  const written = context.takeName('a predicate or val(variable) to order by');
  const { name, reverse, shown } = predicateName(context, written);
  if (reverse) throw invalid(`cannot order by the reverse edge ${shown}`, position, 'Order by a scalar predicate.');
  const langs = context.is('@') ? parseLangs(context) : [];
  if (langs.length > 1 || langs[0] === '*') {
    throw invalid(`the order by ${shown}@${langs.join(':')} names several languages`, position, 'Name one language.');
  }
  return { by: { kind: 'predicate', name, langs }, descending, position };
}

/** `val(x)` as one variable, its word being the current token. */
function takeVariable(context: ParseContext): string {
  const position = context.position;
  context.lexer.next();
  context.expect('(', 'after val');
  const names: string[] = [];
  do {
    names.push(context.takeName('a variable'));
  } while (context.accept(','));
  context.expect(')', 'after the variable');
  if (names.length > 1) {
    throw invalid(`val(...) names ${names.length} variables to order by`, position, 'Order by one variable.');
  }
  return names[0];
}

/** What the orders of one list of nodes must be; asked once all arguments are read. Throws INVALID_QUERY. */
export function checkOrder(order: readonly OrderKey[]): void {
  if (order.length < 2) return;
  const seen = new Set<string>();
  for (const { by, position } of order) {
    if (by.kind !== 'predicate') {
      throw invalid(
        'an order by val(...) stands beside another order',
        position,
        'Order by one val(variable) alone, or by predicates.',
      );
    }
    const key = [by.name, ...by.langs].join('@');
    if (seen.has(key)) {
      throw invalid(`${key} is ordered by twice`, position, 'Remove one of them.');
    }
    seen.add(key);
  }
}

function parseShortest(
  context: ParseContext,
  key: keyof ShortestArgs,
  into: Mutable<Partial<ShortestArgs>>,
  position: Position,
): void {
  if (into[key] !== undefined) throw invalid(`the argument ${key} stands twice`, position, 'Remove one of them.');
  if (key === 'from' || key === 'to') into[key] = parseUidArgument(context, key);
  else if (key === 'minWeight' || key === 'maxWeight') into[key] = parseDecimal(context, key);
  else {
    const value = parseWhole(context, key);
    if (value < 0) throw invalid(`${key} cannot be negative`, position, `Give ${key} a number from 0.`);
    into[key] = value;
  }
}

/** A uid, or `uid(x)` with one variable. */
function parseUidArgument(context: ParseContext, key: string): UidArgument {
  const { lexer } = context;
  const position = lexer.position;
  if (lexer.kind === 'variable') {
    return { kind: 'uid', uid: uidOf(context.takeVariable('uid').text.trim(), position) };
  }
  if (lexer.kind === 'number' || lexer.kind === 'iri' || lexer.kind === 'string') {
    const uid = uidOf(lexer.value, position);
    lexer.next();
    return { kind: 'uid', uid };
  }
  if (!context.isWord('uid') || lexer.peek() !== '(') {
    throw context.unexpected(`a uid for ${key}`, `Write ${key}: 0x1f or ${key}: uid(variable).`);
  }
  lexer.next();
  lexer.next();
  if (lexer.kind !== 'name') {
    const inner = parseUidArgument(context, key);
    context.expect(')', 'after the uid');
    return inner;
  }
  const name = context.takeName('a uid variable');
  context.expect(')', 'after one uid variable');
  return { kind: 'variable', name };
}

/** Text of a number, its sign included, or of a variable. */
function numberText(context: ParseContext, key: string, undeclared = false): string {
  const { lexer } = context;
  if (lexer.kind === 'variable') {
    const name = lexer.value;
    const position = lexer.position;
    const { text } = context.takeVariable('number', undeclared);
    if (text === '')
      throw invalid(`the variable ${name} of ${key} has no value`, position, `Send a value for ${name}.`);
    return text;
  }
  const sign = lexer.kind === '-' ? '-' : '';
  if (sign || lexer.kind === '+') lexer.next();
  if (lexer.kind !== 'number' && lexer.kind !== 'string')
    throw context.unexpected(`a number for ${key}`, `Write it as ${key}: 10, or as a variable $n.`);
  const text = sign + lexer.value;
  lexer.next();
  return text;
}

/** A whole number of an argument. Throws INVALID_QUERY on anything else. */
export function parseWhole(context: ParseContext, key: string, undeclared = false): number {
  const position = context.position;
  const text = numberText(context, key, undeclared);
  const value = wholeNumber(text);
  if (value === undefined) {
    throw invalid(`the value ${text} of ${key} is not a whole number`, position, `Give ${key} a whole number.`);
  }
  return value;
}

function parseDecimal(context: ParseContext, key: string): number {
  const position = context.position;
  const text = numberText(context, key);
  const value = Number(text);
  if (text.trim() === '' || Number.isNaN(value)) {
    throw invalid(`the value ${text} of ${key} is not a number`, position, `Give ${key} a number.`);
  }
  return value;
}
