import { randomBytes } from 'node:crypto';
import { atOnce, type Limits, type Names, type Position } from '../../base/index.js';
import type { Triple } from '../syntax/index.js';
import { scanJson } from './scan.js';
import { JsonTriples } from './triples.js';

interface JsonFileOptions {
  readonly names?: Names;
  readonly limits?: Limits;
  /** name of the text in positions */
  readonly source?: string;
  /** names of nodes without a uid begin with it; an import that goes on after a stop gives the same again */
  readonly blankPrefix?: string;
  /** what is no uid that this store could have given is read as the name of another system, and not refused */
  readonly otherUids?: boolean;
  /** hears of each namespace that an object names; it may throw */
  readonly onNamespace?: (namespace: number, position: Position) => void;
}

/**
 * What a JSON text outside of a request sets: one object, or a list of them, as under the `set` of a mutation.
 * Nodes without a uid get blank names that no other call gives, unless `blankPrefix` is the same. Throws SYNTAX, INVALID_MUTATION, INVALID_VALUE.
 */
export function parseJsonTriples(text: string, options: JsonFileOptions = {}): Triple[] {
  const {
    names,
    limits,
    source,
    onNamespace,
    otherUids,
    blankPrefix = `dg.${randomBytes(6).toString('hex')}`,
  } = options;
  const converter = new JsonTriples({ text, blankPrefix, onNamespace, otherUids, ...(names ? { names } : {}) });
  return atOnce(converter.convert(scanJson(text, { limits, source, lastCounts: names?.dgraph }), 'set'));
}
