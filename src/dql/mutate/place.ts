import { GraphsteadError, type Position } from '../../base/index.js';

/** The refusal of a change with its place: the graph knows changes, only the request knows its text. */
export function placed(thrown: unknown, position: Position | undefined): unknown {
  if (!(thrown instanceof GraphsteadError) || thrown.position || thrown.code !== 'INVALID_VALUE') return thrown;
  const { code, message, fix, details } = thrown;
  return new GraphsteadError(code, message, { position, fix, details, cause: thrown });
}
