import { GraphsteadError, type Names, type Position } from '../../base/index.js';
import { asKept, type GraphChange, type Predicate, type Schema } from '../../graph/index.js';
import type { Value } from '../../values/index.js';

/**
 * A refusal of staged changes with the place of the first one that is wrong by the schema: the graph knows changes,
 * only the request knows its text. Errors that have a place, or whose change is not found, stay as they are.
 */
export function placed(
  thrown: unknown,
  changes: readonly GraphChange[],
  positions: readonly Position[],
  schema: Schema,
  names: Names,
): unknown {
  if (!(thrown instanceof GraphsteadError) || thrown.position || thrown.code !== 'INVALID_VALUE') return thrown;
  const at = changes.findIndex((change) => isWrong(change, schema, names));
  const position = positions[at];
  if (position === undefined) return thrown;
  const { code, message, fix, details } = thrown;
  return new GraphsteadError(code, message, {
    position,
    cause: thrown,
    fix,
    ...(details ? { details } : {}),
  });
}

function isWrong(change: GraphChange, schema: Schema, names: Names): boolean {
  const predicate = 'predicate' in change ? schema.predicate(change.predicate) : undefined;
  if (predicate === undefined) return false;
  if (change.op === 'setEdge') return predicate.type !== 'uid';
  if (change.op === 'deleteValue') return !takes(predicate, change.value, names);
  if (change.op !== 'setValue') return false;
  return (change.lang !== '' && !predicate.lang) || !takes(predicate, change.value, names);
}

function takes({ type }: Predicate, value: Value, names: Names): boolean {
  if (type === 'uid') return false;
  // a password is hashed when it is converted, which is slow; every text can be one, and its hash can be any text
  if (type === 'password') return true;
  if (value.type === 'password') return type === 'string' || type === 'default';
  try {
    asKept(value, type, names);
    return true;
  } catch (thrown) {
    if (thrown instanceof GraphsteadError) return false;
    throw thrown;
  }
}
