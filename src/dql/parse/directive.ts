import type { Block, Directives, FacetFilter, FacetRequest, Filter, GroupBy } from '../syntax/index.js';
import type { ParseContext } from './context.js';
import { invalid } from './invalid.js';
import { parseFacets } from './facets.js';
import { parseFilter } from './function.js';
import { PAGE_KEYS, parseWhole } from './paging.js';
import { parseLangs, predicateName } from './subject.js';

/** What the directives after a block or a predicate ask for. */
export interface DirectiveSet {
  filter?: Filter;
  filtered: boolean;
  cascade?: readonly string[];
  normalize: boolean;
  ignoreReflex: boolean;
  groupBy?: GroupBy;
  recurse?: NonNullable<Block['recurse']>;
  facets?: FacetRequest;
  facetFilter?: FacetFilter;
}

type DirectivePlace = 'root' | 'predicate' | 'count';

const ALLOWED: Readonly<Record<DirectivePlace, readonly string[]>> = {
  root: ['filter', 'cascade', 'normalize', 'ignorereflex', 'recurse', 'groupby'],
  predicate: ['filter', 'facets', 'cascade', 'normalize', 'ignorereflex', 'groupby'],
  count: ['filter', 'facets'],
};

export function noDirectives(): DirectiveSet {
  return { filtered: false, normalize: false, ignoreReflex: false };
}

export function directivesOf(set: DirectiveSet): Directives {
  const { cascade, normalize, ignoreReflex } = set;
  return { ...(cascade ? { cascade } : {}), normalize, ignoreReflex };
}

/** True for a word after `@` that is a directive here and not a language. */
export function isDirective(word: string, place: DirectivePlace): boolean {
  return ALLOWED[place].includes(word.toLowerCase());
}

/** One directive, the word after `@` being the current token. */
export function parseDirective(context: ParseContext, place: DirectivePlace, set: DirectiveSet): void {
  const position = context.position;
  const written = context.takeName('a directive after "@"');
  const word = written.toLowerCase();
  if (!ALLOWED[place].includes(word)) {
    throw invalid(`there is no directive @${written} here`, position, `Use one of @${ALLOWED[place].join(', @')}.`);
  }
  if (isRepeated(set, word)) throw invalid(`@${word} stands twice`, position, 'Join both into one.');
  switch (word) {
    case 'filter':
      set.filter = parseFilter(context, 'filter');
      set.filtered = true;
      break;
    case 'cascade':
      set.cascade = parseCascade(context);
      break;
    case 'normalize':
      set.normalize = true;
      break;
    case 'ignorereflex':
      set.ignoreReflex = true;
      break;
    case 'groupby':
      set.groupBy = parseGroupBy(context);
      break;
    case 'recurse':
      set.recurse = parseRecurse(context);
      break;
    default:
      takeFacets(context, set);
  }
}

function isRepeated(set: DirectiveSet, word: string): boolean {
  return (
    (word === 'filter' && set.filtered) ||
    (word === 'cascade' && set.cascade !== undefined) ||
    (word === 'groupby' && set.groupBy !== undefined) ||
    (word === 'recurse' && set.recurse !== undefined)
  );
}

function takeFacets(context: ParseContext, set: DirectiveSet): void {
  const position = context.position;
  const facets = parseFacets(context);
  if (facets.kind === 'filter') {
    if (set.facetFilter) throw invalid('a second condition on facets', position, 'Join both with "and".');
    set.facetFilter = facets.filter;
    return;
  }
  if (set.facets) throw invalid('a second list of facets', position, 'Join both lists into one.');
  set.facets = facets.request;
}

/** `@cascade` or `@cascade(name, age)`; the fields are stored names. */
function parseCascade(context: ParseContext): readonly string[] {
  if (!context.accept('(')) return [];
  const fields: string[] = [];
  do {
    const written = context.takeName('the name of a field in @cascade(...)');
    const { name, reverse } = predicateName(context, written);
    if (context.is('@')) parseLangs(context);
    fields.push(reverse ? `~${name}` : name);
  } while (context.accept(','));
  context.expect(')', 'or "," after a field of @cascade');
  return fields;
}

function parseGroupBy(context: ParseContext): GroupBy {
  context.expect('(', 'after @groupby');
  const keys: GroupBy['keys'][number][] = [];
  const shown = new Set<string>();
  do {
    const { position } = context;
    const key = parseGroupKey(context);
    const name = shownGroupKey(key);
    if (shown.has(name)) throw invalid(`@groupby shows two of its keys as ${name}`, position, 'Remove one of them.');
    shown.add(name);
    keys.push(key);
  } while (context.accept(','));
  context.expect(')', 'or "," after a predicate of @groupby');
  return { keys };
}

function parseGroupKey(context: ParseContext): GroupBy['keys'][number] {
  const position = context.position;
  let written = context.takeName('a predicate to group by');
  let alias: string | undefined;
  if (context.accept(':')) {
    alias = written;
    if (PAGE_KEYS.has(alias.toLowerCase())) {
      throw invalid(`the alias ${alias} in @groupby is the name of an argument`, position, 'Choose another alias.');
    }
    written = context.takeName('a predicate after its alias');
  }
  const { name, reverse } = predicateName(context, written);
  const langs = context.is('@') ? parseLangs(context) : [];
  if (langs.includes('*')) throw invalid(`cannot group by all languages of ${name}`, position, 'Name one language.');
  return { name, ...(alias === undefined ? {} : { alias }), langs, reverse, position };
}

/** The key of each group under which it stands, but for names that are reserved. */
export function shownGroupKey({ alias, name, langs, reverse }: GroupBy['keys'][number]): string {
  return alias ?? `${reverse ? '~' : ''}${name}${langs.length > 0 ? `@${langs.join(':')}` : ''}`;
}

/** `@recurse` or `@recurse(depth: 3, loop: true)`. */
function parseRecurse(context: ParseContext): NonNullable<Block['recurse']> {
  const position = context.position;
  let depth: number | undefined;
  let loop: boolean | undefined;
  if (context.accept('(')) {
    context.list(')', 'argument', () => {
      const at = context.position;
      const key = context.takeName('depth or loop').toLowerCase();
      context.expect(':', `between ${key} and its value`);
      if (key === 'depth' && depth === undefined) depth = parseWhole(context, 'depth', true);
      else if (key === 'loop' && loop === undefined) loop = parseTruth(context);
      else
        throw invalid(`@recurse has no argument ${key}, or it stands twice`, at, 'It takes depth: n and loop: true.');
    });
    context.expect(')', 'after the arguments of @recurse');
  }
  if (depth !== undefined && depth < 0)
    throw invalid('depth cannot be negative', position, 'Give depth a number above 0.');
  if (loop === true && !depth) {
    context.refuse('@recurse with loop: true needs a depth above 0', position, 'Add depth: n.');
  }
  return { ...(depth === undefined ? {} : { depth }), loop: loop ?? false };
}

function parseTruth(context: ParseContext): boolean {
  const position = context.position;
  const text = context.is('variable') ? context.takeVariable('truth', true).text : context.takeName('true or false');
  if (text === 'true' || text === 'false') return text === 'true';
  throw invalid(`the value ${text} of loop is neither true nor false`, position, 'Write loop: true or loop: false.');
}
