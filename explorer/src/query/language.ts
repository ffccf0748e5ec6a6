import {
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
} from '@codemirror/autocomplete';
import { LanguageSupport, StreamLanguage, type StringStream } from '@codemirror/language';
import { type GraphSchema, written } from './schema';

export const FUNCTIONS: Readonly<Record<string, string>> = {
  eq: 'eq(predicate, value)',
  le: 'le(predicate, value)',
  lt: 'lt(predicate, value)',
  ge: 'ge(predicate, value)',
  gt: 'gt(predicate, value)',
  between: 'between(predicate, from, to)',
  has: 'has(predicate)',
  type: 'type(Name)',
  uid: 'uid(0x1, variable)',
  uid_in: 'uid_in(predicate, uid)',
  allofterms: 'allofterms(predicate, "words")',
  anyofterms: 'anyofterms(predicate, "words")',
  alloftext: 'alloftext(predicate, "text")',
  anyoftext: 'anyoftext(predicate, "text")',
  regexp: 'regexp(predicate, /pattern/)',
  match: 'match(predicate, "text", distance)',
  ngram: 'ngram(predicate, "words")',
  near: 'near(predicate, [longitude, latitude], metres)',
  within: 'within(predicate, polygon)',
  contains: 'contains(predicate, point)',
  intersects: 'intersects(predicate, polygon)',
  similar_to: 'similar_to(predicate, count, vector)',
};
const DIRECTIVES = ['filter', 'cascade', 'normalize', 'facets', 'groupby', 'recurse', 'ignorereflex', 'if'];
const KEYWORDS = ['uid', 'count', 'expand(_all_)', 'val', 'min', 'max', 'sum', 'avg', 'math', 'checkpwd', 'as'];
const ARGUMENTS = ['first', 'offset', 'after', 'orderasc', 'orderdesc'];
const WORDS = new Set([
  'query',
  'upsert',
  'mutation',
  'set',
  'delete',
  'fragment',
  'schema',
  'var',
  'func',
  'as',
  'and',
  'or',
  'not',
  'AND',
  'OR',
  'NOT',
  'true',
  'false',
  'shortest',
  ...ARGUMENTS,
]);
const CALLS = new Set([
  ...Object.keys(FUNCTIONS),
  'count',
  'val',
  'min',
  'max',
  'sum',
  'avg',
  'math',
  'expand',
  'checkpwd',
  'len',
]);

function token(stream: StringStream): string | null {
  if (stream.eatSpace()) return null;
  if (stream.match(/^#.*/)) return 'comment';
  if (stream.match(/^"(?:[^"\\]|\\.)*"?/)) return 'string';
  if (stream.match(/^0x[0-9a-fA-F]+\b/)) return 'atom';
  if (stream.match(/^-?\d+(\.\d+)?([eE][+-]?\d+)?\b/)) return 'number';
  if (stream.match(/^\$\w+/)) return 'variableName.special';
  if (stream.match(/^@\w+/)) return 'meta';
  if (stream.match(/^_:[\w.]+/)) return 'atom';
  if (stream.match(/^<[^>\s]*>/)) return 'propertyName';
  if (stream.match(/^\/(?:[^/\\]|\\.)+\/i?/)) return 'string';
  if (stream.match(/^[{}()[\],:]/)) return 'bracket';
  const word = stream.match(/^~?[\p{L}_][\p{L}\p{N}_.-]*/u) as RegExpMatchArray | null;
  if (!word) {
    stream.next();
    return null;
  }
  if (CALLS.has(word[0]) && stream.match(/^\s*\(/, false)) return 'keyword';
  if (stream.match(/^\s*:/, false) && !WORDS.has(word[0])) return 'labelName';
  return WORDS.has(word[0]) ? 'keyword' : 'propertyName';
}

const language = StreamLanguage.define({ token: (stream) => token(stream), startState: () => null });

/** Highlighting and completion; `schema` is asked at each completion, so that it may change. */
export function graphLanguage(schema: () => GraphSchema): LanguageSupport {
  const complete = (context: CompletionContext) => completions(context, schema());
  return new LanguageSupport(language, [autocompletion({ override: [complete], icons: false })]);
}

function completions(context: CompletionContext, schema: GraphSchema): CompletionResult | null {
  const word = context.matchBefore(/[@<~]?[\p{L}_][\p{L}\p{N}_.-]*|[@<~]/u);
  if (!word && !context.explicit) return null;
  const from = word?.from ?? context.pos;
  const before = context.state.sliceDoc(Math.max(0, from - 200), from);
  const options = word?.text.startsWith('@') ? directives() : optionsAt(before, schema);
  return { from, options, validFor: /^[@<~]?[\p{L}\p{N}_.-]*$/u };
}

function directives(): Completion[] {
  return DIRECTIVES.map((name) => ({ label: `@${name}`, type: 'keyword' }));
}

function optionsAt(before: string, schema: GraphSchema): Completion[] {
  if (/func:\s*$/.test(before) || /@(filter|if)\s*\(\s*([^()]|\([^()]*\))*$/i.test(before)) return functions();
  if (/\btype\s*\(\s*$/.test(before)) return schema.types.map(({ name }) => ({ label: name, type: 'type', boost: 9 }));
  const inCall = /\(\s*[^(){}]*$/.test(before);
  if (inCall && /\(\s*$/.test(before)) return [...predicates(schema), { label: 'func:', type: 'keyword', boost: 50 }];
  if (inCall && /(orderasc|orderdesc):\s*$/.test(before)) return predicates(schema);
  if (inCall) return [...ARGUMENTS.map((name) => ({ label: `${name}:`, type: 'keyword' })), ...predicates(schema)];
  return [...predicates(schema), ...KEYWORDS.map((label) => ({ label, type: 'keyword', boost: -1 }))];
}

function functions(): Completion[] {
  return Object.entries(FUNCTIONS).map(([name, shape]) => ({
    label: name,
    type: 'function',
    detail: shape.slice(name.length),
    apply: `${name}(`,
  }));
}

function predicates({ predicates: all }: GraphSchema): Completion[] {
  return all.flatMap(({ predicate, type, list, reverse }) => {
    const detail = list ? `[${type}]` : type;
    const own = { label: written(predicate), type: 'property', detail };
    return reverse ? [own, { label: written(`~${predicate}`), type: 'property', detail: 'reverse', boost: -2 }] : [own];
  });
}
