import {
  DEFAULT_LIMITS,
  defaultNames,
  GraphsteadError,
  type Limits,
  type Names,
  STEP,
  type Steps,
} from '../../base/index.js';
import { NQuadReader, type TextSpan } from '../rdf/index.js';
import type { Filter, MutationBlock, MutationRequest, Triple } from '../syntax/index.js';
import { ParseContext } from './context.js';
import { parseFilter } from './function.js';
import { Lexer } from './lexer.js';
import { neededVariables } from './needed.js';
import { DocumentParts } from './query.js';
import { takeRawBlock } from './raw-block.js';
import { QueryVariables } from './variable.js';

export interface ParseMutationOptions {
  readonly names?: Names;
  readonly limits?: Limits;
  /** values of the `$variables` of an upsert's query */
  readonly variables?: Readonly<Record<string, string>>;
}

/** One `mutation { ... }` before its RDF is read. */
interface RawMutation {
  readonly condition?: Filter;
  readonly set: readonly TextSpan[];
  readonly delete: readonly TextSpan[];
}

/** A body of /mutate taken apart, its RDF still unread. */
interface MutationOutline {
  readonly context: ParseContext;
  readonly parts: DocumentParts;
  readonly mutations: readonly RawMutation[];
}

/**
 * `{ set { ... } delete { ... } }` or `upsert { query { ... } mutation @if(...) { ... } }` with RDF inside.
 * Throws SYNTAX, INVALID_QUERY, INVALID_MUTATION, INVALID_VALUE or LIMIT_EXCEEDED with positions in the body.
 */
export function* parseMutationSteps(text: string, options: ParseMutationOptions = {}): Steps<MutationRequest> {
  const names = options.names ?? defaultNames;
  const { context, parts, mutations } = yield* outlineMutationSteps(text, options);
  const reader = new NQuadReader({ names, lines: names.dgraph, mostFacets: options.limits?.facets });
  const blocks: MutationBlock[] = [];
  for (const { condition, set, delete: remove } of mutations) {
    blocks.push({
      set: yield* readSpans(reader, text, set),
      delete: yield* readSpans(reader, text, remove),
      ...(condition ? { condition } : {}),
    });
  }
  const query = yield* parts.finish(yield* neededVariables(blocks));
  if (context.refused) throw context.refused;
  return { ...(parts.isEmpty ? {} : { query }), mutations: blocks };
}

function* readSpans(reader: NQuadReader, text: string, spans: readonly TextSpan[]): Steps<Triple[]> {
  const triples: Triple[] = [];
  for (const span of spans) yield* readRest(reader.open(text, span), triples);
  return triples;
}

/** The statements of one text. */
export function* nquadSteps(reader: NQuadReader, text: string): Steps<Triple[]> {
  const triples: Triple[] = [];
  yield* readRest(reader.open(text), triples);
  return triples;
}

function* readRest(reader: NQuadReader, triples: Triple[]): Steps<void> {
  while (!reader.ended) {
    const triple = reader.next();
    if (triple === undefined || triples.push(triple) % STEP === 0) yield;
  }
}

/** True for a text that is a mutation or an upsert, false for one that is a query, if it is anything. */
export function isMutationText(text: string): boolean {
  const context = contextOf(new Lexer(text, { maxTokens: 4 }), {});
  if (context.isWord('upsert') || isBlock(context)) return true;
  if (!context.accept('{') || !isBlock(context)) return false;
  // a block of a query may be called set: it goes on with its arguments
  context.lexer.next();
  return context.is('{');
}

/** The blocks of a body; throws SYNTAX when they do not stand as they must. */
export function* outlineMutationSteps(text: string, options: ParseMutationOptions): Steps<MutationOutline> {
  const limits = options.limits ?? DEFAULT_LIMITS;
  const lexer = new Lexer(text, { maxTokens: limits.syntaxTokens });
  const context = contextOf(lexer, options);
  const parts = new DocumentParts(context);
  if (context.is('end')) throw emptyRequest();
  const upsert = context.isWord('upsert');
  const mutations = upsert ? yield* parseUpsert(context, parts) : [yield* parseAlone(context)];
  if (context.is('}')) throw lexer.error('this "}" closes nothing', 'Remove it.');
  if (!context.is('end')) {
    throw lexer.error(
      `${lexer.shown()} stands after the end of the request`,
      'Send one mutation or one upsert a request.',
    );
  }
  const [only] = mutations;
  if (!upsert && only.set.length === 0 && only.delete.length === 0) throw emptyRequest();
  return { context, parts, mutations };
}

function contextOf(lexer: Lexer, { names, limits, variables }: ParseMutationOptions): ParseContext {
  return new ParseContext(lexer, names ?? defaultNames, limits ?? DEFAULT_LIMITS, new QueryVariables(variables));
}

export function emptyRequest(): GraphsteadError {
  return new GraphsteadError('INVALID_REQUEST', 'empty request: the body holds no mutation', {
    fix: 'Send { set { ... } }, { delete { ... } } or an upsert block.',
  });
}

function* parseUpsert(context: ParseContext, parts: DocumentParts): Steps<RawMutation[]> {
  const { lexer } = context;
  const mutations: RawMutation[] = [];
  let queries = 0;
  lexer.next();
  context.expect('{', 'after upsert');
  while (!context.accept('}')) {
    if (context.isWord('mutation')) mutations.push(yield* parseMutationBlock(context));
    else if (context.isWord('fragment') || context.isWord('query')) {
      if (context.isWord('query') && ++queries > 1) {
        throw lexer.error('an upsert has one query', 'Put all blocks into one query { ... }.');
      }
      yield* parts.take();
    } else {
      throw context.unexpected(
        'query, fragment, mutation or "}" in upsert',
        'What it does stands in mutation { ... }.',
      );
    }
  }
  if (queries === 0) {
    throw lexer.error('the upsert has no query', 'Add query { ... } to it, or send { set { ... } } without upsert.');
  }
  if (mutations.length === 0) {
    throw lexer.error(
      'the upsert has no mutation block',
      'Add mutation { set { ... } } to it, or send the query to /query.',
    );
  }
  return mutations;
}

function* parseMutationBlock(context: ParseContext): Steps<RawMutation> {
  context.lexer.next();
  const condition = context.is('@') ? parseCondition(context) : undefined;
  return { ...(yield* parseBody(context)), ...(condition ? { condition } : {}) };
}

/** `@if(...)` that stands alone, called `cond` in positions; undefined when it is empty or nothing stands in its brackets. */
export function parseConditionText(text: string, options: ParseMutationOptions): Filter | undefined {
  if (text.trim() === '') return undefined;
  const { syntaxTokens } = options.limits ?? DEFAULT_LIMITS;
  const context = contextOf(new Lexer(text, { maxTokens: syntaxTokens, source: 'cond' }), options);
  if (!context.is('@')) throw context.unexpected('"@if(...)"', 'A condition is written @if(eq(len(v), 0)).');
  const filter = parseCondition(context);
  if (!context.is('end'))
    throw context.unexpected(
      'the end of the condition',
      'Write one @if(...), and join conditions in it with AND, OR and NOT.',
    );
  if (context.refused) throw context.refused;
  return filter;
}

/** `@if(...)`, the `@` being the current token; undefined when nothing stands in its brackets. */
function parseCondition(context: ParseContext): Filter | undefined {
  const { lexer } = context;
  lexer.next();
  if (!context.isWord('if')) {
    throw lexer.error(`a mutation takes @if and no @${lexer.value}`, 'A condition is written @if(eq(len(v), 0)).');
  }
  lexer.next();
  return parseFilter(context, 'condition');
}

/** A body that is one mutation; where the peer's rules do not hold its blocks may stand without braces around them. */
function* parseAlone(context: ParseContext): Steps<RawMutation> {
  const { lexer, names } = context;
  if (!isBlock(context)) return yield* parseBody(context);
  if (!names.dgraph) return yield* parseBlocks(context);
  throw lexer.error(`${lexer.value} stands outside of braces`, `Put it into braces: { ${lexer.value} { ... } }.`);
}

/** `{ set { ... } delete { ... } }`. */
function* parseBody(context: ParseContext): Steps<RawMutation> {
  if (!context.is('{')) {
    throw context.unexpected('"{" at the start of the mutation', 'Write { set { ... } } or upsert { ... }.');
  }
  context.lexer.next();
  const mutation = yield* parseBlocks(context);
  if (!context.is('}')) {
    throw context.unexpected('set, delete or "}"', 'A mutation is written { set { ... } delete { ... } }.');
  }
  context.lexer.next();
  return mutation;
}

function isBlock(context: ParseContext): boolean {
  return context.isWord('set') || context.isWord('delete');
}

function* parseBlocks(context: ParseContext): Steps<RawMutation> {
  const set: TextSpan[] = [];
  const remove: TextSpan[] = [];
  while (isBlock(context)) {
    const into = context.isWord('set') ? set : remove;
    context.lexer.next();
    if (!context.is('{')) throw context.unexpected('"{" before the statements', 'Write set { <0x1> <name> "Ada" . }.');
    into.push(yield* takeRawBlock(context.lexer));
  }
  return { set, delete: remove };
}
