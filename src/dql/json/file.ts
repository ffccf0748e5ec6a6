import { randomBytes } from 'node:crypto';
import type { Limits, Names } from '../../base/index.js';
import type { Triple } from '../syntax/index.js';
import { scanJson } from './scan.js';
import { JsonTriples } from './triples.js';

export interface JsonFileOptions {
  readonly names?: Names;
  readonly limits?: Limits;
  /** name of the text in positions */
  readonly source?: string;
}

/**
 * What a JSON text outside of a request sets: one object, or a list of them, as under the `set` of a mutation.
 * Nodes without a uid get blank names that no other call gives. Throws SYNTAX, INVALID_MUTATION, INVALID_VALUE.
 */
export function parseJsonTriples(text: string, options: JsonFileOptions = {}): Triple[] {
  const { names, limits, source } = options;
  const blankPrefix = `dg.${randomBytes(6).toString('hex')}`;
  const converter = new JsonTriples({ text, blankPrefix, ...(names ? { names } : {}) });
  return converter.convert(scanJson(text, limits, source), 'set');
}
