import { GraphsteadError } from '../base/index.js';

const SHOWN = 60;

/** What a user wrote, shortened for a message. */
export function shown(text: string): string {
  return text.length > SHOWN ? `"${text.slice(0, SHOWN)}..."` : `"${text}"`;
}

/** The one kind of mistake this room tells users about. */
export function invalidValue(message: string, fix: string): GraphsteadError {
  return new GraphsteadError('INVALID_VALUE', message, { fix });
}
