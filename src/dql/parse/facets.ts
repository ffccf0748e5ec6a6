import type { FacetFilter, FacetRequest } from '../syntax/index.js';
import type { ParseContext } from './context.js';
import { JOINED } from './function.js';
import { invalid } from './invalid.js';

const TESTS = ['eq', 'le', 'lt', 'ge', 'gt', 'allofterms', 'anyofterms'] as const;
type Test = (typeof TESTS)[number];

type Facets =
  | { readonly kind: 'request'; readonly request: FacetRequest }
  | { readonly kind: 'filter'; readonly filter: FacetFilter };

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** facets asked for, by alias and key */
type Keys = Map<string, Mutable<FacetRequest['keys'][number]>>;

/** What follows `@facets`: nothing (all of them), a list of keys (none in empty parentheses), or a condition. */
export function parseFacets(context: ParseContext): Facets {
  const all = { kind: 'request', request: { all: true, keys: [], order: [] } } as const;
  if (!context.accept('(')) return all;
  if (context.accept(')')) return { kind: 'request', request: { all: false, keys: [], order: [] } };
  if (isCondition(context)) {
    const filter = parseAny(context);
    context.expect(')', 'or "and", "or" after a condition on facets', JOINED);
    return { kind: 'filter', filter };
  }
  return { kind: 'request', request: parseList(context) };
}

function isCondition(context: ParseContext): boolean {
  if (context.is('(')) return true;
  if (!context.is('name')) return false;
  const after = context.lexer.peek();
  return after === '(' || (context.isWord('not') && after === 'name');
}

function parseList(context: ParseContext): FacetRequest {
  const keys: Keys = new Map();
  const order = new Map<string, boolean>();
  const aliases = new Map<string, string>();
  do parseItem(context, keys, order, aliases);
  while (context.accept(','));
  context.expect(')', 'or "," after the key of a facet');
  return {
    all: false,
    keys: [...keys.values()],
    order: Array.from(order, ([key, descending]) => ({ key, descending })),
  };
}

function parseItem(context: ParseContext, keys: Keys, order: Map<string, boolean>, aliases: Map<string, string>): void {
  const item: Mutable<FacetRequest['keys'][number]> = { key: context.takeName('the key of a facet') };
  const word = item.key.toLowerCase();
  const sorts = (word === 'orderasc' || word === 'orderdesc') && context.is(':');
  if (sorts) {
    context.lexer.next();
    item.key = context.takeName(`the key of a facet after ${word}`);
  }
  if (context.isWord('as')) {
    item.variable = item.key;
    context.lexer.next();
    item.key = context.takeName('the key of a facet after "as"');
  }
  const position = context.position;
  if (!sorts && context.accept(':')) {
    item.alias = item.key;
    item.key = context.takeName('the key of a facet after its alias');
  }
  if (sorts) {
    if (order.has(item.key)) {
      throw invalid(`the facet ${item.key} is sorted by twice`, position, 'Remove one of them.');
    }
    order.set(item.key, word === 'orderdesc');
  }
  if (!context.names.dgraph && item.alias !== undefined && (aliases.get(item.alias) ?? item.key) !== item.key) {
    throw invalid(`two facets are shown as ${item.alias}`, position, 'Give each of them its own alias.');
  }
  if (item.alias !== undefined) aliases.set(item.alias, item.key);
  // names hold no colon
  const id = `${item.alias ?? ''}:${item.key}`;
  const known = keys.get(id);
  if (known === undefined) keys.set(id, item);
  else if (item.variable !== undefined && known.variable === undefined) known.variable = item.variable;
  else if (item.variable !== undefined) {
    throw invalid(`the facet ${item.key} defines two variables`, position, 'Use one variable in both places.');
  }
}

function parseAny(context: ParseContext): FacetFilter {
  return context.joined('or', () => context.joined('and', () => parseOne(context)));
}

function parseOne(context: ParseContext): FacetFilter {
  return context.nested(() => {
    if (context.accept('(')) {
      const inner = parseAny(context);
      context.expect(')', 'to close the bracket');
      return inner;
    }
    if (context.isWord('not')) {
      context.lexer.next();
      return { kind: 'not', child: parseOne(context) };
    }
    return parseTest(context);
  });
}

function parseTest(context: ParseContext): FacetFilter {
  const position = context.position;
  const written = context.takeName('a condition on a facet such as eq(close, true)');
  context.expect('(', `after ${written}`);
  const fn = written.toLowerCase();
  const key = context.takeName('the key of a facet');
  const args: string[] = [];
  while (context.accept(',')) parseValues(context, args);
  context.expect(')', `after the arguments of ${written}`);
  if (!(TESTS as readonly string[]).includes(fn)) {
    context.refuse(`facets have no function ${written}`, position, `Use one of ${TESTS.join(', ')}.`);
  } else if (args.length === 0) {
    context.refuse(`${written} on a facet needs a value`, position, `Write it as ${written}(${key}, value).`);
  } else if (args.length > 1 && fn !== 'eq') {
    context.refuse(
      `${written} on a facet takes one value, found ${args.length}`,
      position,
      'Join conditions with "or".',
    );
  }
  return { kind: 'test', fn: fn as Test, key, args, position };
}

function parseValues(context: ParseContext, args: string[]): void {
  if (!context.accept('[')) {
    args.push(takeValue(context));
    return;
  }
  context.list(']', 'value', () => {
    args.push(takeValue(context));
  });
  context.expect(']', 'after a list of values');
}

function takeValue(context: ParseContext): string {
  const { lexer } = context;
  if (lexer.kind === 'variable') return context.takeVariable('text').text;
  const sign = lexer.kind === '-' ? '-' : '';
  if (sign) lexer.next();
  const plain = !sign && (lexer.kind === 'string' || lexer.kind === 'name');
  if (lexer.kind !== 'number' && !plain)
    throw context.unexpected('a value', 'Write a number, a word, or a text in quotes.');
  const text = sign + lexer.value;
  lexer.next();
  return text;
}
