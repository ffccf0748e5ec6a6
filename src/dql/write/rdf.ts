import { GraphsteadError, inSteps, JsonWriter, type MaybePromise, STEP, type Steps } from '../../base/index.js';
import { decodeValue, type Value, valueText } from '../../values/index.js';
import type { ResultNode, RunResult } from '../contract.js';
import { valueAt } from '../run/index.js';
import type { Selection } from '../syntax/index.js';
import type { WriteOptions } from './json.js';
import { answerKey, languageKey } from './key.js';
import { languageFields } from './layout.js';

/**
 * The answer as N-Quads, one triple a line: everything a selection read, then what is below it. Throws INVALID_QUERY
 * for what triples cannot say, RangeError past the limit. `pause` is awaited every few hundred triples, and may throw to end
 * the writing.
 */
export function writeRdfInSteps(
  result: RunResult,
  options: WriteOptions,
  pause: () => MaybePromise<void>,
): Promise<Buffer> {
  return inSteps(rdfSteps(result, options), pause);
}

function* rdfSteps(result: RunResult, options: WriteOptions): Steps<Buffer> {
  if (options.debug) throw unsupported('debug parameter is');
  const out = new JsonWriter(options.limit);
  for (const root of result.roots) {
    if (root.paths) {
      const facets =
        root.syntax.kind === 'block' && root.syntax.children.some((child) => 'facets' in child && child.facets);
      throw unsupported(facets ? 'facets are' : 'shortest path is');
    }
    if (root.syntax.kind === 'block' && !root.syntax.isVar) yield* writeNode(root, out, undefined, NONE);
  }
  return out.take();
}

function unsupported(what: string): GraphsteadError {
  return new GraphsteadError('INVALID_QUERY', `${what} not supported in the rdf output format`, {
    fix: 'Ask for JSON, or leave it out.',
  });
}

function check(node: ResultNode): void {
  const { syntax } = node;
  if ('directives' in syntax && syntax.directives.normalize) throw unsupported('normalize directive is');
  if ('directives' in syntax && syntax.directives.ignoreReflex) throw unsupported('ignorereflex directive is');
  if ('groupBy' in syntax && syntax.groupBy) throw unsupported('groupby is');
  if ('facets' in syntax && syntax.facets && !syntax.facets.implied) throw unsupported('facets are');
  if (syntax.kind === 'countUid') throw unsupported('uid count is');
  if (syntax.kind === 'checkPassword') throw unsupported('chkpwd function is');
}

const NONE: ReadonlySet<string> = new Set();

/**
 * @param shown the nodes that the answer holds: @cascade leaves some of `source` out; undefined at the root
 * @param taken of all languages: the keys of those that fields beside it show
 */
function* writeNode(
  node: ResultNode,
  out: JsonWriter,
  shown: ReadonlySet<number> | undefined,
  taken: ReadonlySet<string>,
): Steps<void> {
  check(node);
  if (shown) yield* writeTriples(node, out, shown, taken);
  const below = new Set<number>();
  for (let i = 0, count = 0; i < (node.rows?.length ?? 0); i++) {
    if (shown && !shown.has(node.source[i])) continue;
    for (const uid of node.rows?.[i] ?? []) {
      if (++count % STEP === 0) yield;
      below.add(uid);
    }
  }
  for (const child of languageFields(node.children)) yield* writeNode(child.node, out, below, child.taken);
}

function* writeTriples(
  node: ResultNode,
  out: JsonWriter,
  shown: ReadonlySet<number>,
  taken: ReadonlySet<string>,
): Steps<void> {
  const { syntax, source } = node;
  if (syntax.kind === 'block') return;
  const lines: string[] = [];
  for (let i = 0; i < source.length; i++) {
    if (!shown.has(source[i])) continue;
    for (const rest of triplesOf(node, syntax, i, taken)) {
      if (lines.push(`<0x${source[i].toString(16)}> ${rest} .\n`) < STEP) continue;
      out.bytes(Buffer.from(lines.join('')));
      lines.length = 0;
      yield;
    }
  }
  out.bytes(Buffer.from(lines.join('')));
}

/** Predicate and object of each triple of one node. */
function* triplesOf(node: ResultNode, syntax: Selection, i: number, taken: ReadonlySet<string>): Iterable<string> {
  const key = answerKey(syntax);
  if (node.counts) yield literal(key, { type: 'int', value: node.counts[i] });
  else if (node.rows) {
    if (node.children.length > 0) for (const uid of node.rows[i]) yield `<${key}> <0x${uid.toString(16)}>`;
  } else if (node.values) {
    const bytes = node.values.at(i);
    if (bytes) yield literal(key, decodeValue(bytes));
  } else if (node.valueLists) {
    for (const [at, bytes] of node.valueLists[i].entries()) {
      const lang = node.valueLangs?.[i]?.[at];
      const own = lang === undefined ? key : languageKey(syntax, lang);
      if (!taken.has(own)) yield literal(own, decodeValue(bytes));
    }
  } else {
    const value = valueAt(node.computed, node.source[i]);
    if (value) yield literal(key, value);
  }
}

function literal(key: string, value: Value): string {
  return `<${key}> ${JSON.stringify(valueText(value))}`;
}
