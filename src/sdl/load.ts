import { type DocumentNode, GraphQLError, parse } from 'graphql';
import { GraphsteadError, GraphsteadErrors, type Names, type Position } from '../base/index.js';
import { buildModel } from './build.js';
import { readComments } from './comment.js';
import { readDefinitions } from './definition.js';
import type { Model } from './model.js';
import type { Problem } from './rule.js';
import { RULES } from './rules/index.js';

export interface LoadOptions {
  readonly names: Names;
  /** name of the file the text came from, for positions */
  readonly source?: string;
}

const MAX_TOKENS = 500_000;

/** Nothing but white space, commas and comments. */
const BLANK = /^(?:[\s,\uFEFF]|#[^\n\r]*(?:[\n\r]|$))*$/;

/**
 * Type definitions as a model. Throws GraphsteadErrors (INVALID_SDL) with every mistake at once, each with its
 * position, reason and fix, and the rule's name in `details.rule`; mistakes of syntax alone, since nothing else can be
 * said then.
 */
export function loadModel(text: string, options: LoadOptions): Model {
  try {
    return load(text, options);
  } catch (error) {
    // graphql-js reads by recursion: what nests so deep that it ends the stack is no definition
    if (!(error instanceof RangeError)) throw error;
    throw syntaxError('they nest too deep', { line: 1, column: 1 }, options.source);
  }
}

function load(text: string, options: LoadOptions): Model {
  const { names, source } = options;
  const errors: GraphsteadError[] = [];
  const reporter =
    (rule: string) =>
    ({ position, message, fix }: Problem): void => {
      const at = source === undefined ? position : { ...position, source };
      errors.push(new GraphsteadError('INVALID_SDL', message, { position: at, fix, details: { rule } }));
    };
  const document = parseDefinitions(text, source);
  const declarations = readComments(document, names, reporter('comment'));
  const definitions = readDefinitions(text, document, new Set(declarations.secrets.keys()));
  for (const { name, check } of RULES) {
    check({ definitions, names, lax: names.dgraph, report: reporter(name) });
  }
  if (errors.length > 0) throw new GraphsteadErrors(inOrder(errors));
  return buildModel(definitions, declarations);
}

function parseDefinitions(text: string, source: string | undefined): DocumentNode {
  try {
    if (!BLANK.test(text)) return parse(text, { maxTokens: MAX_TOKENS });
    // graphql-js wants a definition; with none there are only comments to read
    return { ...parse(`${text}\nscalar Nothing`), definitions: [] };
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    const at = error.locations?.[0] ?? { line: 1, column: 1 };
    throw syntaxError(error.message, at, source);
  }
}

function syntaxError(reason: string, at: Position, source: string | undefined): GraphsteadErrors {
  const { line, column } = at;
  const position: Position = { line, column, ...(source === undefined ? {} : { source }) };
  const message = `the type definitions cannot be parsed: ${reason}`;
  const fix = 'Correct the syntax at this place.';
  return new GraphsteadErrors([
    new GraphsteadError('INVALID_SDL', message, { position, fix, details: { rule: 'syntax' } }),
  ]);
}

/** By position; of two with one position and text the first. */
function inOrder(errors: readonly GraphsteadError[]): GraphsteadError[] {
  const key = ({ position, message }: GraphsteadError): string => `${position?.line}:${position?.column}:${message}`;
  const distinct = [...new Map([...errors].reverse().map((error) => [key(error), error])).values()].reverse();
  const place = ({ position }: GraphsteadError): number => (position?.line ?? 0) * 1e6 + (position?.column ?? 0);
  return distinct.sort((a, b) => place(a) - place(b));
}
