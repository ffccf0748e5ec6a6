import type { Position } from '../../base/index.js';
import type { AggregateSelection, ExpandSelection, Selection } from '../syntax/index.js';
import type { ParseContext } from './context.js';
import { invalid } from './invalid.js';
import { directivesOf, type DirectiveSet, isDirective, noDirectives, parseDirective } from './directive.js';
import { parseMath } from './math.js';
import { type BlockArguments, checkOrder, noArguments, parseArgumentList } from './paging.js';
import { parseLangs, predicateName } from './subject.js';

/** `...name`, put in its place when every fragment is known. */
export interface Spread {
  readonly kind: 'spread';
  readonly name: string;
  readonly position: Position;
}

/** What a selection is given before its own text: alias, variable, position. */
interface Head {
  readonly alias?: string;
  readonly variable?: string;
  readonly position: Position;
}

const AGGREGATES: ReadonlySet<string> = new Set(['min', 'max', 'sum', 'avg']);

/** `{ ... }`, the opening brace being the current token. Spreads stand among the selections until they are resolved. */
export function parseSelections(context: ParseContext): readonly Selection[] {
  return context.nested(() => {
    context.expect('{', 'before the fields');
    const selections: (Selection | Spread)[] = [];
    while (!context.accept('}')) {
      if (context.accept(',')) continue;
      selections.push(parseSelection(context));
    }
    return selections as readonly Selection[];
  });
}

function parseSelection(context: ParseContext): Selection | Spread {
  const { lexer } = context;
  const position = lexer.position;
  if (lexer.kind === '...') {
    lexer.next();
    return { kind: 'spread', name: context.takeName('the name of a fragment after "..."'), position };
  }
  if (lexer.kind === '@') {
    throw context.unexpected('a field', 'A directive stands after the field it belongs to.');
  }
  if (lexer.kind === '*') {
    throw context.unexpected(
      'a field',
      'Name the fields, or write expand(_all_) for all that the types of a node have.',
    );
  }
  if (lexer.kind === 'end')
    throw lexer.error('the fields are not closed: found the end of the text', 'Add the missing "}".');
  let name = context.takeName('a field');
  let head: Head = { position };
  if (context.isWord('as')) {
    lexer.next();
    head = { ...head, variable: name };
    name = context.takeName('a field after "as"');
  }
  if (context.accept(':')) {
    head = { ...head, alias: name };
    name = context.takeName('a field after its alias');
    if (context.is(':')) {
      throw lexer.error('a second alias', `"${head.alias}" is the alias already: remove the second one.`);
    }
    if (context.isWord('as') && head.variable === undefined) {
      lexer.next();
      head = { ...head, variable: name };
      name = context.takeName('a field after "as"');
    }
  }
  return parseField(context, name, head);
}

function parseField(context: ParseContext, name: string, head: Head): Selection {
  const word = name.toLowerCase();
  if (context.is('(')) {
    if (word === 'count') return parseCount(context, head);
    if (word === 'val') return { kind: 'value', ...head, of: parseValueVariable(context) };
    if (word === 'math') return parseMathField(context, head);
    if (word === 'expand') return parseExpand(context, head);
    if (word === 'checkpwd') return parseCheckPassword(context, head);
    if (AGGREGATES.has(word)) return parseAggregate(context, word as AggregateSelection['op'], head);
    if (word === 'uid') {
      throw context.lexer.error(
        'the field uid has no arguments',
        'Write uid alone; nodes are chosen by func: uid(...) or @filter(uid(...)).',
      );
    }
  } else if (word === 'uid') return { kind: 'uid', ...head };
  return parsePredicate(context, name, head);
}

function parseMathField(context: ParseContext, head: Head): Selection {
  const expression = parseMath(context);
  if (head.alias === undefined && head.variable === undefined) {
    context.refuse(
      'math(...) has neither a name nor a variable',
      head.position,
      'Write it as total: math(...) or x as math(...).',
    );
  }
  return { kind: 'math', ...head, expression };
}

/** `(x)` after val: one variable. */
function parseValueVariable(context: ParseContext): string {
  context.expect('(', 'after val');
  const name = context.takeName('a variable');
  if (context.is(',')) throw invalid('val(...) takes one variable', context.position, 'Use one val(...) a variable.');
  context.expect(')', `after val(${name}`);
  return name;
}

/** `count(uid)`, `count(friend @filter(...))`, and directives after the bracket too. */
function parseCount(context: ParseContext, head: Head): Selection {
  const { lexer } = context;
  lexer.next();
  if (lexer.kind === ')') {
    throw lexer.error('count() counts nothing', 'Name what to count: count(uid) or count(friend).');
  }
  const written = context.takeName('the predicate to count');
  if (written.toLowerCase() === 'uid') {
    context.expect(')', 'after count(uid');
    refuseChildren(context);
    return { kind: 'countUid', ...head };
  }
  const set = noDirectives();
  const args = noArguments();
  let langs: readonly string[] = [];
  for (let inside = true; ; ) {
    if (context.is('@')) langs = parseAt(context, 'count', set, langs);
    else if (context.is('(')) parseArgumentList(context, 'predicate', args);
    else if (inside && context.is(')')) {
      inside = false;
      lexer.next();
    } else if (inside) {
      throw context.unexpected(
        '")" after the one predicate to count',
        'Count each predicate by itself: count(a) count(b).',
      );
    } else break;
  }
  refuseChildren(context);
  const { filter, facetFilter } = set;
  return {
    kind: 'countPredicate',
    ...head,
    ...predicateName(context, written),
    ...(langs.length > 0 ? { shown: `${written}@${langs.join(':')}` } : {}),
    langs,
    ...(filter ? { filter } : {}),
    ...(facetFilter ? { facetFilter } : {}),
    ...(Object.keys(args.page).length > 0 ? { page: args.page } : {}),
  };
}

function refuseChildren(context: ParseContext): void {
  if (!context.is('{')) return;
  throw context.lexer.error('a count has no fields', 'Remove the braces, or ask for the edge beside its count.');
}

function parseAggregate(context: ParseContext, op: AggregateSelection['op'], head: Head): Selection {
  const { lexer } = context;
  lexer.next();
  if (context.isWord('val') && lexer.peek() === '(') {
    lexer.next();
    const name = parseValueVariable(context);
    context.expect(')', `after ${op}(val(${name})`);
    return { kind: 'aggregate', ...head, op, of: { kind: 'variable', name } };
  }
  const written = context.takeName(`val(variable) in ${op}(...)`);
  const langs = context.is('@') ? parseLangs(context) : [];
  context.expect(')', `after ${op}(${written}`);
  const { name } = predicateName(context, written);
  return { kind: 'aggregate', ...head, op, of: { kind: 'predicate', name, langs } };
}

function parseCheckPassword(context: ParseContext, head: Head): Selection {
  const { lexer } = context;
  lexer.next();
  const written = context.takeName('the predicate that holds the password');
  context.expect(',', 'between the predicate and the password');
  let password: string;
  if (lexer.kind === 'variable') password = context.takeVariable('text').text;
  else if (lexer.kind === 'string') {
    password = lexer.value;
    lexer.next();
  } else
    throw context.unexpected(
      'the password in quotes',
      'Write it as checkpwd(predicate, "text"), or with a variable $name.',
    );
  context.expect(')', 'after the password');
  const { name, shown } = predicateName(context, written);
  return { kind: 'checkPassword', ...head, name, shown, password };
}

function parseExpand(context: ParseContext, head: Head): Selection {
  const { alias, variable, position } = head;
  if (alias !== undefined || variable !== undefined) {
    throw invalid('expand(...) can have neither an alias nor a variable', position, 'Remove it.');
  }
  const of = parseExpandOf(context);
  const { set, args, children } = parseRest(context);
  const { filter, facets } = set;
  return {
    kind: 'expand',
    position,
    of,
    ...(filter ? { filter } : {}),
    ...(facets ? { facets } : {}),
    order: args.order,
    page: args.page,
    directives: directivesOf(set),
    children,
  };
}

function parseExpandOf(context: ParseContext): ExpandSelection['of'] {
  const { lexer } = context;
  lexer.next();
  if (context.isWord('val') && lexer.peek() === '(') {
    lexer.next();
    const name = parseValueVariable(context);
    context.expect(')', 'after expand(val(...)');
    return { kind: 'variable', name };
  }
  const names: string[] = [];
  const position = lexer.position;
  do {
    const at = lexer.position;
    const name = context.takeName('_all_ or the name of a type in expand(...)');
    if (name === '_forward_' || name === '_reverse_') {
      throw invalid(`expand(${name}) is gone from the language`, at, 'Use expand(_all_) or name the types.');
    }
    names.push(context.names.stored(name));
  } while (context.accept(','));
  context.expect(')', 'or "," in expand(...)');
  if (!names.includes('_all_')) return { kind: 'types', names };
  if (names.length > 1) throw invalid('_all_ stands alone in expand(...)', position, 'Remove the other names.');
  return { kind: 'all' };
}

/** Arguments, directives and fields after a predicate, in any order. */
function parseRest(context: ParseContext): {
  set: DirectiveSet;
  args: BlockArguments;
  langs: readonly string[];
  children: readonly Selection[];
  braced: boolean;
} {
  const set = noDirectives();
  const args = noArguments();
  let langs: readonly string[] = [];
  for (;;) {
    if (context.is('@')) langs = parseAt(context, 'predicate', set, langs);
    else if (context.is('(')) parseArgumentList(context, 'predicate', args);
    else break;
  }
  checkOrder(args.order);
  const braced = context.is('{');
  const children = braced ? parseSelections(context) : [];
  return { set, args, langs, children, braced };
}

/** A directive, or the languages of the field, after `@`. */
function parseAt(
  context: ParseContext,
  place: 'predicate' | 'count',
  set: DirectiveSet,
  langs: readonly string[],
): readonly string[] {
  const { lexer } = context;
  const next = lexer.peek();
  if (next === 'name') {
    const word = lexer.peekValue();
    if (isDirective(word, place)) {
      lexer.next();
      parseDirective(context, place, set);
      return langs;
    }
    if (word.toLowerCase() === 'recurse') {
      throw lexer.error(
        '@recurse stands behind the function of a block, not at an edge',
        'Keep the edge as a variable, x as friend, and go on in a block q(func: uid(x)) @recurse(depth: 3) { ... }.',
      );
    }
  }
  if (langs.length > 0) {
    throw lexer.error('the field has its languages already', 'Put all languages into one list, as in name@en:fr.');
  }
  const position = lexer.position;
  const parsed = parseLangs(context);
  if (context.is('(') && parsed.length === 1 && place === 'predicate') {
    throw invalid(
      `there is no directive @${parsed[0]}`,
      position,
      'Known are @filter, @facets, @cascade, @normalize, @groupby.',
    );
  }
  return parsed;
}

function parsePredicate(context: ParseContext, written: string, head: Head): Selection {
  const { set, args, langs, children, braced } = parseRest(context);
  const predicate = predicateName(context, written);
  if (langs.length > 0 && braced) {
    throw invalid(
      `${written}@${langs.join(':')} is a text in a language and has no fields`,
      head.position,
      'Remove the braces; or, if it was meant as a directive, use one of @filter, @facets, @cascade, @normalize, @groupby.',
    );
  }
  if (langs.includes('*') && head.variable !== undefined) {
    context.refuse('a variable cannot hold all languages of a field', head.position, 'Name one language.');
  }
  if (args.order.length > 0 && set.facets !== undefined && set.facets.order.length > 0) {
    context.refuse(
      'an edge is ordered by a predicate and by a facet at the same time',
      head.position,
      'Keep one of them.',
    );
  }
  const { filter, facets, facetFilter, groupBy } = set;
  return {
    kind: 'predicate',
    ...head,
    ...predicate,
    ...(langs.length > 0 ? { shown: `${predicate.shown}@${langs.join(':')}` } : {}),
    langs,
    ...(filter ? { filter } : {}),
    ...(facets ? { facets } : {}),
    ...(facetFilter ? { facetFilter } : {}),
    order: args.order,
    page: args.page,
    directives: directivesOf(set),
    ...(groupBy ? { groupBy } : {}),
    children,
  };
}
