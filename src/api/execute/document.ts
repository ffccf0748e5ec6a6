import { createHash } from 'node:crypto';
import {
  type ASTVisitor,
  BREAK,
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  OverlappingFieldsCanBeMergedRule,
  parse,
  validate,
  type ValidationContext,
  type ValidationRule,
  visit,
} from 'graphql';
import {
  atOnce,
  documentWeight,
  GraphsteadError,
  inSteps,
  type Limits,
  type MaybePromise,
  Recent,
  type Steps,
} from '../../base/index.js';
import { Pace, type RunOptions } from '../../dql/index.js';
import { DOCUMENT_RULES } from '../schema/document-rules.js';
import { cascadeNamesFields, namedByVariables, type NamedByVariable } from '../schema/cascade-names.js';
import { extentOf, tooDeep } from './document-extent.js';
import { withFixes } from '../schema/document-fix.js';

/** A parsed and validated text. */
export interface PreparedDocument {
  readonly document: DocumentNode;
  readonly operations: readonly OperationDefinitionNode[];
  readonly fragments: Readonly<Record<string, FragmentDefinitionNode>>;
  /** @cascade stands somewhere in it */
  readonly cascades: boolean;
  /** fields of a @cascade that are named with the request */
  readonly named: readonly NamedByVariable[];
  /** that its operations ask for, fragments in their places */
  readonly fields: number;
}

/** Texts that are read without a pause: a few milliseconds. */
const SHORT = 16 * 1024;

/** Parsed documents by text, the least recently used leave first. One per served schema. */
export class DocumentCache {
  readonly #entries: Recent<PreparedDocument>;
  readonly #schema: GraphQLSchema;
  readonly #limits: Limits;

  constructor(schema: GraphQLSchema, limits: Limits) {
    this.#entries = new Recent(limits.documentCache, limits.documentCacheBytes);
    this.#schema = schema;
    this.#limits = limits;
  }

  /** Throws an array of GraphQLErrors for what graphql-js finds, GraphsteadError for bounds. */
  prepare(text: string): PreparedDocument {
    return this.#entries.get(text) ?? this.#kept(text, atOnce(prepareSteps(text, this.#schema, this.#limits, [RULES])));
  }

  /** The same with pauses where the text is long. Rejects with TIMEOUT, CANCELLED too. */
  prepareInSteps(text: string, run: RunOptions): MaybePromise<PreparedDocument> {
    const known = this.#entries.get(text);
    if (known || text.length <= SHORT) return known ?? this.prepare(text);
    const pace = new Pace(run);
    const steps = prepareSteps(text, this.#schema, this.#limits, RULES_IN_TURN);
    return inSteps(steps, () => pace.pause()).then((prepared) => this.#kept(text, prepared));
  }

  #kept(text: string, prepared: PreparedDocument): PreparedDocument {
    this.#entries.set(text, prepared, documentWeight(text, prepared.fields));
    return prepared;
  }
}

/** GraphQL mistakes found before execution. */
export class InvalidDocument extends Error {
  constructor(readonly errors: readonly GraphQLError[]) {
    super(errors.map((error) => error.message).join('\n'));
  }
}

/** what graphql-js says when it has compared as many fields of one name with each other as it will */
const GIVEN_UP = 'Validation aborted.';
/** what it says when it has read as many tokens as it may */
const CUT_OFF = 'Parsing aborted.';

/** Validation passes over an operation of a kind that the schema does not have. */
function operationIsOffered(context: ValidationContext): ASTVisitor {
  return {
    OperationDefinition(node) {
      if (context.getSchema().getRootType(node.operation)) return;
      context.reportError(new GraphQLError(`The schema has no ${node.operation}.`, { nodes: node }));
    },
  };
}

const RULES: readonly ValidationRule[] = [...DOCUMENT_RULES, operationIsOffered, cascadeNamesFields];
/** The rule that costs as much as all others comes after them, on its own. */
const RULES_IN_TURN = [
  RULES.filter((rule) => rule !== OverlappingFieldsCanBeMergedRule),
  [OverlappingFieldsCanBeMergedRule],
];

/** @param turns rules that look at the document at the same time, one list after the other; mistakes end it */
function* prepareSteps(
  text: string,
  schema: GraphQLSchema,
  limits: Limits,
  turns: readonly (readonly ValidationRule[])[],
): Steps<PreparedDocument> {
  try {
    const document = parse(text, { maxTokens: limits.documentTokens });
    const fragments = fragmentsOf(document);
    const fields = extentOf(document, fragments, schema, limits);
    for (const rules of turns) {
      yield;
      const errors = validate(schema, document, rules, { maxErrors: 50 });
      if (errors.at(-1)?.message === GIVEN_UP) throw tooManyPairs();
      if (errors.length > 0)
        throw new InvalidDocument(text.length > SHORT ? errors : withFixes(errors, document, schema));
    }
    yield;
    const operations = document.definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION);
    const cascades = usesCascade(document);
    const named = cascades ? namedByVariables(document, schema) : [];
    return { document, operations, fragments, cascades, named, fields };
  } catch (error) {
    if (error instanceof GraphQLError)
      throw error.message.includes(CUT_OFF) ? tooLong(limits) : new InvalidDocument([error]);
    // the stack ran out: parsing and validating recurse
    if (error instanceof RangeError) throw tooDeep(limits);
    throw error;
  }
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

function tooLong({ documentTokens }: Limits): GraphsteadError {
  return new GraphsteadError('LIMIT_EXCEEDED', `the document has more tokens than documentTokens (${documentTokens})`, {
    fix: 'Send lists and objects as variables, ask for less in one request, or raise limits.documentTokens.',
  });
}

function tooManyPairs(): GraphsteadError {
  const message = 'the document selects the same fields too often for them all to be compared with each other';
  return new GraphsteadError('LIMIT_EXCEEDED', message, {
    fix: 'Select each field once at a place, or give each an alias of its own.',
  });
}

/** The operation that a request means. Throws INVALID_GRAPHQL. */
export function operationNamed(prepared: PreparedDocument, name: string | null | undefined): OperationDefinitionNode {
  const { operations } = prepared;
  if (!name) {
    if (operations.length === 1) return operations[0];
    if (operations.length === 0)
      throw new GraphsteadError('INVALID_GRAPHQL', 'the document holds no operation', {
        fix: 'Send a query, a mutation or a subscription beside its fragments.',
      });
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
    this.#texts = new Recent(limits.documentCache, limits.documentCacheBytes);
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
      throw new GraphsteadError('INVALID_GRAPHQL', 'the persisted query does not match its sha256Hash', {
        fix: 'Send the SHA-256 of the text of query, in hexadecimal digits.',
      });
    }
    this.#texts.set(hash, query, query.length);
    return query;
  }
}
