import { defaultNames, GraphsteadError, type Names } from '../../base/index.js';
import { decodeValue, type Value, valueText } from '../../values/index.js';
import type { ResultNode, RunResult } from '../contract.js';
import { valueAt } from '../run/index.js';
import type { WriteOptions } from './json.js';
import { answerKey, languageKey } from './key.js';

/**
 * The answer as N-Quads, one triple a line: everything a selection read, then what is below it. Throws INVALID_QUERY
 * for what triples cannot say.
 */
export function writeRdf(result: RunResult, options: WriteOptions = {}): Buffer {
  if (options.debug) throw unsupported('debug parameter is');
  const lines: string[] = [];
  const names = options.names ?? defaultNames;
  for (const root of result.roots) {
    if (root.paths) {
      const facets =
        root.syntax.kind === 'block' && root.syntax.children.some((child) => 'facets' in child && child.facets);
      throw unsupported(facets ? 'facets are' : 'shortest path is');
    }
    if (root.syntax.kind === 'block' && !root.syntax.isVar) writeNode(root, names, lines, undefined);
  }
  return Buffer.from(lines.join(''));
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
  if ('facets' in syntax && syntax.facets) throw unsupported('facets are');
  if (syntax.kind === 'countUid') throw unsupported('uid count is');
  if (syntax.kind === 'checkPassword') throw unsupported('chkpwd function is');
}

/** @param shown the nodes that the answer holds: @cascade leaves some of `source` out; undefined at the root */
function writeNode(node: ResultNode, names: Names, lines: string[], shown: ReadonlySet<number> | undefined): void {
  check(node);
  if (shown) writeTriples(node, lines, shown);
  const below = new Set<number>();
  node.rows?.forEach((row, i) => {
    if (!shown || shown.has(node.source[i])) for (const uid of row) below.add(uid);
  });
  for (const child of node.children) writeNode(child, names, lines, below);
}

function writeTriples(node: ResultNode, lines: string[], shown: ReadonlySet<number>): void {
  const { syntax, source } = node;
  if (syntax.kind === 'block') return;
  const key = answerKey(syntax);
  for (let i = 0; i < source.length; i++) {
    if (!shown.has(source[i])) continue;
    const subject = `<0x${source[i].toString(16)}>`;
    const literal = (name: string, value: Value) => lines.push(`${subject} <${name}> ${quoted(valueText(value))} .\n`);
    if (node.counts) literal(key, { type: 'int', value: node.counts[i] });
    else if (node.rows) {
      if (node.children.length === 0) continue;
      for (const uid of node.rows[i]) lines.push(`${subject} <${key}> <0x${uid.toString(16)}> .\n`);
    } else if (node.values) {
      const bytes = node.values.at(i);
      if (bytes) literal(key, decodeValue(bytes));
    } else if (node.valueLists) {
      node.valueLists[i].forEach((bytes, at) => {
        const lang = node.valueLangs?.[i]?.[at];
        literal(lang === undefined ? key : languageKey(syntax, lang), decodeValue(bytes));
      });
    } else {
      const value = valueAt(node.computed, source[i]);
      if (value) literal(key, value);
    }
  }
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
