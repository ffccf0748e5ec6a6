import { latin1 } from '../base/index.js';
import { decodeValueIn, encodeValue } from '../values/index.js';
import type { Facets } from './contract.js';
import { eachEntry, encodeEntries, type EntryMap, keyText, textKey } from './entry-map.js';

/** Facets of one edge or value as bytes: entries sorted by key. */
export function encodeFacets(facets: Facets | undefined): Uint8Array {
  const entries: EntryMap = new Map();
  const sorted = [...(facets ?? [])].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  for (const { key, value } of sorted) entries.set(textKey(key), encodeValue(value));
  return encodeEntries(entries);
}

export function decodeFacets(bytes: Uint8Array): Facets {
  return new FacetDecoder().decode(bytes, 0, bytes.length);
}

/** Keys that are remembered: more have few edges in common. */
const REMEMBERED = 64;

/** Decodes facets of many edges, which have most of their keys in common: the text of each is made once. */
export class FacetDecoder {
  readonly #keys: { readonly bytes: Uint8Array; readonly text: string }[] = [];

  /** The facets in bytes[start, end). */
  decode(bytes: Uint8Array, start: number, end: number): Facets {
    const facets: Facets[number][] = [];
    eachEntry(
      bytes,
      (keyAt, keyEnd, valueAt, valueEnd) => {
        facets.push({ key: this.#keyIn(bytes, keyAt, keyEnd), value: decodeValueIn(bytes, valueAt, valueEnd) });
        return false;
      },
      start,
      end,
    );
    return facets;
  }

  #keyIn(bytes: Uint8Array, start: number, end: number): string {
    for (const key of this.#keys) if (isIn(key.bytes, bytes, start, end)) return key.text;
    const own = bytes.slice(start, end);
    const text = keyText(latin1(own));
    if (this.#keys.length < REMEMBERED) this.#keys.push({ bytes: own, text });
    return text;
  }
}

function isIn(key: Uint8Array, bytes: Uint8Array, start: number, end: number): boolean {
  if (key.length !== end - start) return false;
  for (let i = 0; i < key.length; i++) if (key[i] !== bytes[start + i]) return false;
  return true;
}

/** The key of an edge in its subject's facets. */
export function edgeKey(object: number): string {
  return String(object);
}

/** The object of the edge whose key lies in bytes[start, end). */
export function edgeObject(bytes: Uint8Array, start: number, end: number): number {
  let object = 0;
  for (let at = start; at < end; at++) object = object * 10 + bytes[at] - ZERO;
  return object;
}

const ZERO = 0x30;
