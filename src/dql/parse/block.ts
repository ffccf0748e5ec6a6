import type { Block, ShortestArgs } from '../syntax/index.js';
import type { ParseContext } from './context.js';
import { invalid } from './invalid.js';
import { directivesOf, type DirectiveSet, noDirectives, parseDirective } from './directive.js';
import { type BlockArguments, checkOrder, noArguments, parseArgumentList } from './paging.js';
import { parseSelections } from './selection.js';

/** One block: `x as name(func: ...) @filter(...) { ... }`. The braces may be left out. */
export function parseBlock(context: ParseContext): Block {
  const { lexer } = context;
  let position = lexer.position;
  let name = context.takeName('the name of a block');
  let variable: string | undefined;
  if (context.isWord('as')) {
    lexer.next();
    variable = name;
    position = lexer.position;
    name = context.takeName('the name of a block after "as"');
  }
  if ((name === 'set' || name === 'delete') && context.is('{')) {
    throw invalid(`a query cannot ${name} data`, position, 'Send mutations to /mutate.');
  }
  const word = name.toLowerCase();
  const args = noArguments();
  if (!context.is('('))
    throw context.unexpected(`"(" after the block ${name}`, `Write it as ${name}(func: ...) { ... }.`);
  parseArgumentList(context, word === 'shortest' ? 'shortest' : 'root', args);
  checkOrder(args.order);
  const set = noDirectives();
  while (context.accept('@')) parseDirective(context, 'root', set);
  const children = context.is('{') ? parseSelections(context) : [];
  return makeBlock(context, { name, word, variable, args, set, children, position });
}

interface Parts {
  readonly name: string;
  readonly word: string;
  readonly variable: string | undefined;
  readonly args: BlockArguments;
  readonly set: DirectiveSet;
  readonly children: Block['children'];
  readonly position: Block['position'];
}

function makeBlock(context: ParseContext, parts: Parts): Block {
  const { name, word, variable, args, set, children, position } = parts;
  const { filter, recurse, groupBy } = set;
  const shortest = word === 'shortest' ? shortestOf(args.shortest, position) : undefined;
  if (args.root === undefined && shortest === undefined) checkEmpty(context, parts);
  return {
    kind: 'block',
    name,
    isVar: word === 'var',
    ...(variable === undefined ? {} : { variable }),
    ...(args.root ? { root: args.root } : {}),
    ...(filter ? { filter } : {}),
    order: args.order,
    page: args.page,
    directives: directivesOf(set),
    ...(recurse ? { recurse } : {}),
    ...(shortest ? { shortest } : {}),
    ...(groupBy ? { groupBy } : {}),
    children,
    position,
  };
}

/** A block without `func` starts from nothing: it can only show aggregates of variables. */
function checkEmpty(context: ParseContext, { name, variable, set, position }: Parts): void {
  if (variable !== undefined || set.filter || set.recurse || set.groupBy) {
    context.refuse(`the block ${name} has no func to start from`, position, `Write it as ${name}(func: ...) { ... }.`);
  }
}

function shortestOf(args: Partial<ShortestArgs>, position: Block['position']): ShortestArgs {
  const { from, to } = args;
  if (from === undefined || to === undefined) {
    throw invalid('shortest needs from and to', position, 'Write shortest(from: 0x1, to: 0x2) { ... }.');
  }
  return { ...args, from, to, numPaths: args.numPaths ?? 1 };
}
