import { randomBytes } from 'node:crypto';
import { defaultNames, type Steps } from '../../base/index.js';
import { invalidMutation } from '../parse/invalid.js';
import { emptyRequest, parseConditionText, type ParseMutationOptions } from '../parse/mutation.js';
import { neededVariables } from '../parse/needed.js';
import { parseQuerySteps } from '../parse/query.js';
import type { Filter, MutationBlock, MutationRequest } from '../syntax/index.js';
import { type JsonNode, type ObjectNode, scanJsonSteps } from './scan.js';
import { JsonTriples } from './triples.js';

const TOP_KEYS: ReadonlySet<string> = new Set(['set', 'delete', 'cond', 'query', 'mutations']);
const MUTATION_KEYS: ReadonlySet<string> = new Set(['set', 'delete', 'cond']);

/**
 * A JSON body of /mutate: `{"set": ..., "delete": ..., "query": "...", "cond": "@if(...)"}`, or several of them under
 * `mutations`. Positions are of the body; of `query` and `cond` with that word as their source.
 * Throws SYNTAX, INVALID_REQUEST, INVALID_QUERY, INVALID_MUTATION, INVALID_VALUE, LIMIT_EXCEEDED.
 */
export function* parseJsonMutationSteps(body: string, options: ParseMutationOptions = {}): Steps<MutationRequest> {
  const names = options.names ?? defaultNames;
  const root = yield* scanJsonSteps(body, { limits: options.limits, lastCounts: names.dgraph });
  yield;
  if (root.kind !== 'object')
    throw invalidMutation('the body is no object', root.position, 'Send {"set": ...} or {"delete": ...}.');
  checkKeys(root, TOP_KEYS);
  const converter = new JsonTriples({
    names,
    text: body,
    blankPrefix: `dg.${randomBytes(4).readUInt32BE()}`,
    mostFacets: options.limits?.facets,
  });
  const parts = [...(isMutation(root) ? [root] : []), ...listed(root)];
  const mutations: MutationBlock[] = [];
  for (const part of parts) {
    const condition = conditionOf(part, options);
    const set = part.entries.get('set');
    const remove = part.entries.get('delete');
    mutations.push({
      set: set ? yield* converter.convert(set, 'set') : [],
      delete: remove ? yield* converter.convert(remove, 'delete') : [],
      ...(condition ? { condition } : {}),
    });
  }
  const query = root.entries.get('query');
  if (mutations.length === 0) throw emptyRequest();
  const needed = yield* neededVariables(mutations);
  const text = query === undefined ? '' : textOf(query, 'query');
  const document = yield* parseQuerySteps(text, { ...options, needed, source: 'query' });
  return { ...(text.trim() === '' ? {} : { query: document }), mutations };
}

function isMutation(node: ObjectNode): boolean {
  return node.entries.has('set') || node.entries.has('delete');
}

function listed(root: ObjectNode): ObjectNode[] {
  const list = root.entries.get('mutations');
  if (list === undefined || list.kind === 'null') return [];
  if (list.kind !== 'array')
    throw invalidMutation('mutations is no list', list.position, 'Give it a list of {"set": ..., "cond": ...}.');
  return list.items.map((item) => {
    if (item.kind !== 'object')
      throw invalidMutation('a member of mutations is no object', item.position, 'Write it as {"set": ...}.');
    checkKeys(item, MUTATION_KEYS);
    return item;
  });
}

function checkKeys(node: ObjectNode, known: ReadonlySet<string>): void {
  for (const [key, value] of node.entries) {
    if (known.has(key)) continue;
    throw invalidMutation(
      `a mutation has no key ${JSON.stringify(key)}`,
      value.position,
      `It has ${[...known].join(', ')}; data stands under set or delete.`,
    );
  }
}

function conditionOf(part: ObjectNode, options: ParseMutationOptions): Filter | undefined {
  const node = part.entries.get('cond');
  return node && parseConditionText(textOf(node, 'cond'), options);
}

function textOf(node: JsonNode, key: string): string {
  if (node.kind === 'string') return node.text;
  if (node.kind === 'null') return '';
  throw invalidMutation(`${key} is not text`, node.position, `Give ${key} a string.`);
}
