import { decodeValue, encodeValue } from '../values/index.js';
import type { Facets } from './contract.js';
import { type EntryMap, decodeEntries, encodeEntries, keyText, textKey } from './entry-map.js';

/** Facets of one edge or value as bytes: entries sorted by key. */
export function encodeFacets(facets: Facets | undefined): Uint8Array {
  const entries: EntryMap = new Map();
  const sorted = [...(facets ?? [])].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  for (const { key, value } of sorted) entries.set(textKey(key), encodeValue(value));
  return encodeEntries(entries);
}

export function decodeFacets(bytes: Uint8Array): Facets {
  return [...decodeEntries(bytes)].map(([key, value]) => ({ key: keyText(key), value: decodeValue(value) }));
}

/** The key of an edge in its subject's facets. */
export function edgeKey(object: number): string {
  return String(object);
}
