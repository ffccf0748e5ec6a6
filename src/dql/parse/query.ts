import {
  atOnce,
  DEFAULT_LIMITS,
  defaultNames,
  type GraphsteadError,
  type Limits,
  type Names,
  forEachInSteps,
  type Steps,
} from '../../base/index.js';
import type { Block, QueryDocument, SchemaQuery, Selection } from '../syntax/index.js';
import { parseBlock } from './block.js';
import { checkDocument } from './check.js';
import { ParseContext } from './context.js';
import { declareVariables } from './declaration.js';
import { invalid } from './invalid.js';
import { FragmentExpansion } from './fragment.js';
import { Lexer } from './lexer.js';
import { parseSelections } from './selection.js';
import type { VariableMention } from './uses.js';
import { QueryVariables } from './variable.js';

import { parseSchemaQuery } from './schema-query.js';

export interface ParseQueryOptions {
  /** values of `$variables`, by name with or without the `$` */
  readonly variables?: Readonly<Record<string, string>>;
  /** `$variables` whose values come when the text is used, which this call only checks: the document is not to be run */
  readonly later?: readonly string[];
  readonly names?: Names;
  readonly limits?: Limits;
  /** variables that the mutations of an upsert use */
  readonly needed?: readonly VariableMention[];
  /** name of the text in positions, where it stands inside another */
  readonly source?: string;
}

/**
 * Parses and checks a text of the graph language's query side, in time linear in its length.
 * Throws SYNTAX (cannot be read), INVALID_QUERY (means nothing) or LIMIT_EXCEEDED, each with a position.
 */
export function parseQuery(text: string, options: ParseQueryOptions = {}): QueryDocument {
  return atOnce(parseQuerySteps(text, options));
}

/** As parseQuery, for texts that may be long. */
export function* parseQuerySteps(text: string, options: ParseQueryOptions = {}): Steps<QueryDocument> {
  const { document, refused } = yield* readQuerySteps(text, options);
  if (refused) throw refused;
  return document;
}

interface Read {
  readonly document: QueryDocument;
  readonly refused?: GraphsteadError;
}

/** A text that can be read, and the first thing that is wrong with what it means. Throws like `parseQuery` otherwise. */
export function* readQuerySteps(text: string, options: ParseQueryOptions): Steps<Read> {
  const { limits = DEFAULT_LIMITS, source } = options;
  const lexer = new Lexer(text, { maxTokens: limits.syntaxTokens, ...(source === undefined ? {} : { source }) });
  const variables = new QueryVariables(options.variables, options.later);
  const context = new ParseContext(lexer, options.names ?? defaultNames, limits, variables);
  const parts = new DocumentParts(context);
  while (!context.is('end')) yield* parts.take();
  const document = yield* parts.finish(options.needed ?? []);
  return { document, ...(context.refused ? { refused: context.refused } : {}) };
}

/** Collects what stands at the top level of a query text, or inside an upsert. */
export class DocumentParts {
  readonly #context: ParseContext;
  readonly #blocks: Block[] = [];
  readonly #fragments = new Map<string, readonly Selection[]>();
  #schema: SchemaQuery | undefined;

  constructor(context: ParseContext) {
    this.#context = context;
  }

  get isEmpty(): boolean {
    return this.#blocks.length === 0 && this.#schema === undefined;
  }

  /** The next operation, fragment or schema query. Throws SYNTAX when something else stands there. */
  *take(): Steps<void> {
    const context = this.#context;
    if (context.accept(',')) return;
    if (context.is('{')) yield* this.#operation();
    else if (context.isWord('query')) yield* this.#query();
    else if (context.isWord('fragment')) this.#fragment();
    else if (context.isWord('schema')) this.#schemaQuery();
    else throw this.#misplaced();
  }

  #misplaced(): GraphsteadError {
    const context = this.#context;
    if (context.isWord('mutation') || context.isWord('upsert')) {
      return invalid(
        `a query cannot hold ${context.value}`,
        context.position,
        'Send mutations and upserts to /mutate.',
      );
    }
    if (context.is('}')) return context.lexer.error('this "}" closes nothing', 'Remove it.');
    return context.unexpected('"{", query, fragment or schema', 'A query is written { name(func: ...) { ... } }.');
  }

  *#query(): Steps<void> {
    const context = this.#context;
    const { position } = context;
    context.lexer.next();
    const named = context.is('name');
    if (named) context.lexer.next();
    if (context.is('(')) {
      if (!named) {
        throw context.lexer.error(
          'a query without a name cannot declare variables',
          'Name it, as in: query find($a: string) { ... }.',
        );
      }
      declareVariables(context);
    }
    context.variables.close(position);
    yield* this.#operation();
  }

  *#operation(): Steps<void> {
    const context = this.#context;
    context.expect('{', 'before the blocks of a query');
    while (!context.accept('}')) {
      if (context.accept(',')) continue;
      if (context.is('end'))
        throw context.lexer.error('the query is not closed: found the end of the text', 'Add the missing "}".');
      this.#blocks.push(parseBlock(context));
      yield;
    }
  }

  #fragment(): void {
    const context = this.#context;
    context.lexer.next();
    const { position } = context;
    const name = context.takeName('the name of a fragment');
    if (this.#fragments.has(name))
      throw invalid(`the fragment ${name} is defined twice`, position, 'Rename one of them.');
    this.#fragments.set(name, parseSelections(context));
  }

  #schemaQuery(): void {
    const context = this.#context;
    const { position } = context;
    const schema = parseSchemaQuery(context);
    if (this.#schema) throw invalid('a second schema query', position, 'Send them as two requests.');
    this.#schema = schema;
  }

  /** The document once everything is read; what was refused on the way is the context's to tell. */
  *finish(needed: readonly VariableMention[]): Steps<QueryDocument> {
    const context = this.#context;
    const schema = this.#schema;
    if (schema && this.#blocks.length > 0) {
      throw invalid('a schema query stands beside a query', schema.position, 'Send them as two requests.');
    }
    const expansion = new FragmentExpansion(this.#fragments, context.limits);
    const blocks: Block[] = [];
    yield* forEachInSteps(this.#blocks, (block) => blocks.push(expansion.block(block)));
    yield;
    checkDocument(context, blocks, needed);
    return { blocks, ...(schema ? { schema } : {}) };
  }
}
