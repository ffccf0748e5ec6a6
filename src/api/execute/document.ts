import { createHash } from 'node:crypto';
import {
  BREAK,
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  parse,
  type SelectionSetNode,
  specifiedRules,
  validate,
  visit,
} from 'graphql';
import { GraphsteadError, type Limits, Recent } from '../../base/index.js';
import { cascadeNamesFields } from './cascade.js';

/** A parsed and validated text. */
export interface PreparedDocument {
  readonly document: DocumentNode;
  readonly operations: readonly OperationDefinitionNode[];
  readonly fragments: Readonly<Record<string, FragmentDefinitionNode>>;
  /** @cascade stands somewhere in it */
  readonly cascades: boolean;
}

/** Parsed documents by text, the least recently used leave first. One per served schema. */
export class DocumentCache {
  readonly #entries: Recent<PreparedDocument>;
  readonly #schema: GraphQLSchema;
  readonly #limits: Limits;

  constructor(schema: GraphQLSchema, limits: Limits) {
    this.#entries = new Recent(limits.documentCache);
    this.#schema = schema;
    this.#limits = limits;
  }

  /** Throws an array of GraphQLErrors for what graphql-js finds, GraphsteadError for bounds. */
  prepare(text: string): PreparedDocument {
    const known = this.#entries.get(text);
    if (known) return known;
    const prepared = prepare(text, this.#schema, this.#limits);
    this.#entries.set(text, prepared);
    return prepared;
  }
}

/** GraphQL mistakes found before execution. */
export class InvalidDocument extends Error {
  constructor(readonly errors: readonly GraphQLError[]) {
    super(errors.map((error) => error.message).join('\n'));
  }
}

function prepare(text: string, schema: GraphQLSchema, limits: Limits): PreparedDocument {
  try {
    return parsed(text, schema, limits);
  } catch (error) {
    if (error instanceof GraphQLError) throw new InvalidDocument([error]);
    // the stack ran out: parsing and validating recurse
    if (error instanceof RangeError) throw tooDeep(limits);
    throw error;
  }
}

/** what graphql-js says when it has compared as many fields of one name with each other as it will */
const GIVEN_UP = 'Validation aborted.';
const RULES = [...specifiedRules, cascadeNamesFields];

function parsed(text: string, schema: GraphQLSchema, limits: Limits): PreparedDocument {
  const document = parse(text, { maxTokens: limits.syntaxTokens });
  const fragments = fragmentsOf(document);
  boundDepth(document, fragments, limits);
  const errors = validate(schema, document, RULES, { maxErrors: 50 });
  if (errors.at(-1)?.message === GIVEN_UP) throw tooManyPairs();
  if (errors.length > 0) throw new InvalidDocument(errors);
  const operations = document.definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION);
  return { document, operations, fragments, cascades: usesCascade(document) };
}

function usesCascade(document: DocumentNode): boolean {
  let found = false;
  visit(document, {
    Directive(node) {
      if (node.name.value !== 'cascade') return undefined;
      found = true;
      return BREAK;
    },
  });
  return found;
}

function fragmentsOf(document: DocumentNode): Record<string, FragmentDefinitionNode> {
  const fragments: Record<string, FragmentDefinitionNode> = Object.create(null);
  for (const node of document.definitions)
    if (node.kind === Kind.FRAGMENT_DEFINITION) fragments[node.name.value] = node;
  return fragments;
}

function tooDeep(limits: Limits): GraphsteadError {
  return new GraphsteadError('LIMIT_EXCEEDED', `the document nests deeper than nestingDepth (${limits.nestingDepth})`, {
    fix: 'Ask for fewer levels in one request.',
  });
}

function tooManyPairs(): GraphsteadError {
  const message = 'the document selects the same fields too often for them all to be compared with each other';
  return new GraphsteadError('LIMIT_EXCEEDED', message, {
    fix: 'Select each field once at a place, or give each an alias of its own.',
  });
}

/** Depth of selections, fragments followed once a path; cycles are left to validation. */
function boundDepth(
  document: DocumentNode,
  fragments: Readonly<Record<string, FragmentDefinitionNode>>,
  limits: Limits,
): void {
  const depths = new Map<string, number>();
  const open = new Set<string>();
  const ofFragment = (name: string): number => {
    const known = depths.get(name);
    if (known !== undefined) return known;
    const fragment = fragments[name];
    if (!fragment || open.has(name)) return 0;
    open.add(name);
    const depth = ofSet(fragment.selectionSet, 0);
    open.delete(name);
    depths.set(name, depth);
    return depth;
  };
  const ofSet = (set: SelectionSetNode, above: number): number => {
    if (above > limits.nestingDepth) throw tooDeep(limits);
    let deepest = 0;
    for (const node of set.selections) {
      let depth = 0;
      if (node.kind === Kind.FRAGMENT_SPREAD) depth = ofFragment(node.name.value);
      else if (node.kind === Kind.INLINE_FRAGMENT) depth = ofSet(node.selectionSet, above + 1);
      else depth = node.selectionSet ? 1 + ofSet(node.selectionSet, above + 1) : 1;
      if (above + depth > limits.nestingDepth) throw tooDeep(limits);
      deepest = Math.max(deepest, depth);
    }
    return deepest;
  };
  for (const node of document.definitions) {
    if (node.kind === Kind.OPERATION_DEFINITION) ofSet(node.selectionSet, 0);
  }
}

/** The operation that a request means. Throws INVALID_GRAPHQL. */
export function operationNamed(prepared: PreparedDocument, name: string | null | undefined): OperationDefinitionNode {
  const { operations } = prepared;
  if (!name) {
    if (operations.length === 1) return operations[0];
    if (operations.length === 0) throw new GraphsteadError('INVALID_GRAPHQL', 'the document holds no operation');
    throw new GraphsteadError('INVALID_GRAPHQL', 'operationName is required: the document holds several operations', {
      fix: `Send operationName: ${operations.map((node) => node.name?.value).join(' or ')}.`,
    });
  }
  const found = operations.find((node) => node.name?.value === name);
  if (found) return found;
  throw new GraphsteadError('INVALID_GRAPHQL', `operationName "${name}" is not an operation of the document`, {
    fix: `It holds: ${operations.map((node) => node.name?.value ?? '(no name)').join(', ')}.`,
  });
}

/** Texts by their sha256, for `extensions.persistedQuery`. */
export class PersistedQueries {
  readonly #texts: Recent<string>;

  constructor(limits: Limits) {
    this.#texts = new Recent(limits.documentCache);
  }

  /** The text that a request means. Throws INVALID_GRAPHQL (unknown hash, wrong hash, no text at all). */
  resolve(query: string | undefined, extensions: Readonly<Record<string, unknown>> | null | undefined): string {
    const persisted = extensions?.persistedQuery as { readonly sha256Hash?: unknown } | undefined;
    const hash = persisted?.sha256Hash;
    if (typeof hash !== 'string' || hash === '') {
      if (typeof query === 'string' && query.trim() !== '') return query;
      throw new GraphsteadError('INVALID_GRAPHQL', 'the request holds no query', {
        fix: 'Send {"query": "..."}.',
      });
    }
    if (!query) {
      const known = this.#texts.get(hash);
      if (known !== undefined) return known;
      throw new GraphsteadError('INVALID_GRAPHQL', 'PersistedQueryNotFound', {
        fix: 'Send the query together with its hash once.',
        details: { code: 'PERSISTED_QUERY_NOT_FOUND' },
      });
    }
    if (createHash('sha256').update(query).digest('hex') !== hash.toLowerCase()) {
      throw new GraphsteadError('INVALID_GRAPHQL', 'the persisted query does not match its sha256Hash');
    }
    this.#texts.set(hash, query);
    return query;
  }
}
