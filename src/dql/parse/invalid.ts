import { GraphsteadError, type Position } from '../../base/index.js';

/** INVALID_QUERY: the text can be read but means nothing. */
export function invalid(message: string, position: Position, fix: string): GraphsteadError {
  return new GraphsteadError('INVALID_QUERY', message, { position, fix });
}

/** INVALID_MUTATION: the same of a mutation. */
export function invalidMutation(message: string, position: Position, fix: string): GraphsteadError {
  return new GraphsteadError('INVALID_MUTATION', message, { position, fix });
}
