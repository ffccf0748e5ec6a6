import { randomBytes } from 'node:crypto';
import { defaultNames, type Steps } from '../../base/index.js';
import type { MutationPart, MutationParts, MutationSource } from '../contract.js';
import { JsonTriples, parseJsonMutationSteps, scanJsonSteps } from '../json/index.js';
import {
  emptyRequest,
  neededVariables,
  nquadSteps,
  parseConditionText,
  type ParseMutationOptions,
  parseMutationSteps,
  parseQuerySteps,
} from '../parse/index.js';
import { NQuadReader } from '../rdf/index.js';
import type { MutationBlock, MutationRequest, Triple } from '../syntax/index.js';

/** What is asked for, read in steps. Throws what the parsers throw. */
export function readMutationSteps(source: MutationSource, options: ParseMutationOptions): Steps<MutationRequest> {
  if (source.contentType === 'parts') return partsSteps(source.body, options);
  return source.contentType === 'json'
    ? parseJsonMutationSteps(source.body, options)
    : parseMutationSteps(source.body, options);
}

/** Positions have the name of the part as their source. */
function* partsSteps(parts: MutationParts, options: ParseMutationOptions): Steps<MutationRequest> {
  const hasQuery = parts.query.trim() !== '';
  if (!hasQuery && !parts.mutations.some(saysSomething)) throw emptyRequest();
  const mutations: MutationBlock[] = [];
  for (const part of parts.mutations) {
    const condition = parseConditionText(part.condition ?? '', options);
    mutations.push({
      set: [...(yield* nquads(part.setNquads, 'set_nquads', options)), ...(yield* json(part.setJson, 'set', options))],
      delete: [
        ...(yield* nquads(part.deleteNquads, 'del_nquads', options)),
        ...(yield* json(part.deleteJson, 'delete', options)),
      ],
      ...(condition ? { condition } : {}),
    });
  }
  const needed = yield* neededVariables(mutations);
  const query = yield* parseQuerySteps(parts.query, { ...options, needed, source: 'query' });
  return { ...(hasQuery ? { query } : {}), mutations };
}

function saysSomething({ setNquads, deleteNquads, setJson, deleteJson }: MutationPart): boolean {
  return [setNquads, deleteNquads, setJson, deleteJson].some((text) => text !== undefined && text !== '');
}

function* nquads(text: string | undefined, source: string, options: ParseMutationOptions): Steps<Triple[]> {
  if (!text) return [];
  const names = options.names ?? defaultNames;
  return yield* nquadSteps(
    new NQuadReader({ names, lines: names.dgraph, source, mostFacets: options.limits?.facets }),
    text,
  );
}

function* json(text: string | undefined, op: 'set' | 'delete', options: ParseMutationOptions): Steps<Triple[]> {
  if (!text) return [];
  const { limits, names } = options;
  const node = yield* scanJsonSteps(text, { limits, source: `${op}_json`, lastCounts: names?.dgraph });
  // nodes without a name of one text are not those of another
  const blankPrefix = `dg.${randomBytes(4).readUInt32BE()}`;
  return yield* new JsonTriples({ names, text, blankPrefix, mostFacets: limits?.facets }).convert(node, op);
}
