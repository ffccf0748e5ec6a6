import type { Position } from '../../base/index.js';
import type { Value } from '../../values/index.js';
import { invalidMutation } from '../parse/invalid.js';
import { facetText, isFacetKeyCharacter, tooManyFacets } from '../rdf/facet.js';
import type { TripleFacet } from '../syntax/index.js';
import type { JsonNode, ObjectNode } from './scan.js';
import { numberValue } from './number.js';

const NONE: readonly TripleFacet[] = [];

export type FacetEntry = readonly [facet: string, value: JsonNode];

/** The keys `predicate|facet` of one node, by predicate; undefined when it has none. Throws LIMIT_EXCEEDED above `most` of a predicate. */
export type FacetIndex = ReadonlyMap<string, readonly FacetEntry[]> | undefined;

export function facetIndex(node: ObjectNode, most: number): FacetIndex {
  let index: Map<string, [string, JsonNode][]> | undefined;
  for (const [name, value] of node.entries) {
    const bar = name.indexOf('|');
    if (bar === -1) continue;
    if (bar === 0 || bar === name.length - 1) {
      throw invalidMutation(
        `the key ${JSON.stringify(name)} names no ${bar === 0 ? 'predicate' : 'facet'}`,
        value.position,
        'Write it as "predicate|facet".',
      );
    }
    if (value.kind === 'null') continue;
    index ??= new Map();
    const entry: [string, JsonNode] = [facetKey(name.slice(bar + 1), value.position), value];
    const known = index.get(name.slice(0, bar));
    if (known && known.length >= most) throw tooManyFacets(most, value.position);
    if (known) known.push(entry);
    else index.set(name.slice(0, bar), [entry]);
  }
  return index;
}

/** Other keys could neither be asked for by @facets(...) nor stand in N-Quads. */
function facetKey(key: string, position: Position): string {
  for (let i = 0; i < key.length; i++) {
    if (!isFacetKeyCharacter(key.charCodeAt(i))) {
      throw invalidMutation(
        `${JSON.stringify(key)} is not the key of a facet`,
        position,
        'Use letters, digits, "_", "-", "." and ":".',
      );
    }
  }
  return key;
}

/**
 * Facets of one value or edge. Those that the node at its end tells of the edge (`inside`) may stand beside maps, which
 * belong to a list of the same name.
 */
export function facetsOf(index: FacetIndex, key: string, inside: boolean): readonly TripleFacet[] {
  const found = index?.get(key);
  if (found === undefined) return NONE;
  const out: TripleFacet[] = [];
  for (const [facet, value] of found) {
    const single = value.kind !== 'object' && value.kind !== 'array';
    if (single) out.push({ key: facet, value: facetValueOf(value) });
    else if (!inside) {
      throw invalidMutation(
        `the facet ${key}|${facet} of a single value is a list or a map`,
        value.position,
        'Give it one value.',
      );
    }
  }
  return sorted(out);
}

/**
 * Facets of a list's members, by index: `"friend|since": {"0": "2006-01-02", "2": ...}`. In a node that was reached by
 * this very key (`inside`) a plain value belongs to the edge that led there, in a `lone` list to its only edge, as
 * older exports of the peer have it. An index past the end of the list, which has `length` members, is refused; a list
 * without any holds nothing that could have facets, as null does.
 */
export function listFacets(
  index: FacetIndex,
  key: string,
  { length, inside, lone }: { length: number; inside: boolean; lone: boolean },
): ReadonlyMap<number, readonly TripleFacet[]> {
  const out = new Map<number, TripleFacet[]>();
  for (const [facet, value] of index?.get(key) ?? []) {
    if (value.kind !== 'object' && inside) continue;
    if (lone && value.kind !== 'object' && value.kind !== 'array') {
      addMember(out, 0, { key: facet, value: facetValueOf(value) });
      continue;
    }
    if (value.kind !== 'object') {
      throw invalidMutation(
        `the facet ${key}|${facet} of a list is not a map`,
        value.position,
        'Write it as {"0": ..., "2": ...} by index.',
      );
    }
    for (const [at, member] of value.entries) {
      if (length === 0 || member.kind === 'null') continue;
      addMember(out, memberIndex(at, length, member.position), { key: facet, value: facetValueOf(member) });
    }
  }
  for (const facets of out.values()) sorted(facets);
  return out;
}

function memberIndex(index: string, length: number, position: Position): number {
  if (!/^\d{1,9}$/.test(index))
    throw invalidMutation(`"${index}" is no index of a list`, position, 'Use "0" for the first member.');
  const at = Number(index);
  if (at < length) return at;
  throw invalidMutation(
    `there is no member ${index} in a list of ${length}`,
    position,
    `Use indexes from "0" to "${length - 1}".`,
  );
}

function addMember(out: Map<number, TripleFacet[]>, at: number, facet: TripleFacet): void {
  const facets = out.get(at);
  if (facets) facets.push(facet);
  else out.set(at, [facet]);
}

function facetValueOf(node: JsonNode): Value {
  if (node.kind === 'string') return facetText(node.text);
  if (node.kind === 'bool') return { type: 'bool', value: node.value };
  if (node.kind === 'number') return numberValue(node.text, node.position);
  throw invalidMutation('a facet is neither text nor number nor true nor false', node.position, 'Give it one value.');
}

function sorted(facets: TripleFacet[]): TripleFacet[] {
  return facets.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
}
