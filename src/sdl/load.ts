import { type DocumentNode, GraphQLError, parse } from 'graphql';
import { atOnce, GraphsteadError, GraphsteadErrors, type Names, type Position, type Steps } from '../base/index.js';
import type { Variables } from './from-environment.js';
import { buildModel } from './build.js';
import { type Declarations, readComments } from './comment.js';
import { type Definitions, readDefinitions } from './definition.js';
import type { Model } from './model.js';
import type { Problem } from './rule.js';
import { RULES } from './rules/index.js';
import { soundPart } from './sound-part.js';
import { syntaxFix } from './syntax-fix.js';

interface LoadOptions {
  readonly names: Names;
  /** name of the file the text came from, for positions */
  readonly source?: string;
  /** what placeholders of secrets are filled in from; without it they stay as they stand */
  readonly variables?: Variables;
}

const MAX_TOKENS = 500_000;

/** Nothing but white space, commas and comments. */
const BLANK = /^(?:[\s,\uFEFF]|#[^\n\r]*(?:[\n\r]|$))*$/;

/** Type definitions that may hold mistakes. */
interface ReadModel {
  /** each with its position, reason and fix, and the rule's name in `details.rule`; in the order of their places */
  readonly errors: readonly GraphsteadError[];
  /** of everything, or of the part that no mistake touches; undefined where no such part was found */
  readonly model: Model | undefined;
  /** names of what the model leaves out */
  readonly left: ReadonlySet<string>;
}

/**
 * Type definitions as a model. Throws GraphsteadErrors (INVALID_SDL, MISSING_VARIABLE) with every mistake at once;
 * mistakes of syntax alone, since nothing else can be said then.
 */
export function loadModel(text: string, options: LoadOptions): Model {
  const { errors, model } = readModel(text, options);
  if (errors.length > 0 || !model) throw new GraphsteadErrors(errors);
  return model;
}

/** The same for callers that look for mistakes of other kinds too. Throws GraphsteadErrors for mistakes of syntax. */
export function readModel(text: string, options: LoadOptions): ReadModel {
  return atOnce(readModelInSteps(text, options));
}

/** The same with stops: thousands of types take seconds. */
export function* readModelInSteps(text: string, options: LoadOptions): Steps<ReadModel> {
  try {
    return yield* read(text, options);
  } catch (error) {
    // graphql-js reads by recursion: what nests so deep that it ends the stack is no definition
    if (!(error instanceof RangeError)) throw error;
    throw syntaxError('they nest too deep', { line: 1, column: 1 }, options.source);
  }
}

/** What is left out may be missed elsewhere, which leaves out more: so often at most. */
const MOST_PASSES = 8;

function* read(text: string, options: LoadOptions): Steps<ReadModel> {
  const left = new Set<string>();
  let document = parseDefinitions(text, options.source);
  const first = yield* checked(text, document, options);
  let last = first;
  for (let pass = 0; pass < MOST_PASSES && last.places.length > 0; pass++) {
    const part = soundPart(document, last.places);
    for (const name of part.left) left.add(name);
    document = part.document;
    last = yield* checked(text, document, options);
  }
  const { definitions, declarations } = last;
  const model = last.places.length === 0 ? yield* buildModel(definitions, declarations) : undefined;
  // of two definitions with one name the other one may still be there
  for (const name of left) if (model?.types.has(name)) left.delete(name);
  return { errors: inOrderOfPlace(first.errors), model, left };
}

interface Checked {
  readonly definitions: Definitions;
  readonly declarations: Declarations;
  readonly errors: readonly GraphsteadError[];
  /** of the mistakes in definitions; a comment belongs to none */
  readonly places: readonly Position[];
}

function* checked(text: string, document: DocumentNode, { names, source, variables }: LoadOptions): Steps<Checked> {
  const errors: GraphsteadError[] = [];
  const places: Position[] = [];
  const reporter =
    (rule: string) =>
    ({ position, message, fix, variable }: Problem): void => {
      const at = source === undefined ? position : { ...position, source };
      if (rule !== COMMENT) places.push(position);
      const code = variable === undefined ? 'INVALID_SDL' : 'MISSING_VARIABLE';
      const details = { rule, ...(variable === undefined ? {} : { variable }) };
      errors.push(new GraphsteadError(code, message, { position: at, fix, details }));
    };
  const declarations = readComments(document, { names, variables, report: reporter(COMMENT) });
  const definitions = readDefinitions(text, document, new Set(declarations.secrets.keys()));
  for (const { name, check } of RULES) {
    yield;
    check({ definitions, names, lax: names.dgraph, report: reporter(name) });
  }
  return { definitions, declarations, errors, places };
}

const COMMENT = 'comment';

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
  const fix = syntaxFix(reason);
  return new GraphsteadErrors([
    new GraphsteadError('INVALID_SDL', message, { position, fix, details: { rule: 'syntax' } }),
  ]);
}

/** By position; of two with one position and text the first. */
export function inOrderOfPlace(errors: readonly GraphsteadError[]): GraphsteadError[] {
  const key = ({ position, message }: GraphsteadError): string => `${position?.line}:${position?.column}:${message}`;
  const distinct = [...new Map([...errors].reverse().map((error) => [key(error), error])).values()].reverse();
  const place = ({ position }: GraphsteadError): number => (position?.line ?? 0) * 1e6 + (position?.column ?? 0);
  return distinct.sort((a, b) => place(a) - place(b));
}
