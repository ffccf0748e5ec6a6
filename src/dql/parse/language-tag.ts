import { GraphsteadError, type Position } from '../../base/index.js';

/** The name of a predicate, and the language that was written behind it; "" without one. */
export interface TaggedName {
  readonly name: string;
  readonly lang: string;
}

/**
 * `name@en` is the predicate `name` in English. Throws INVALID_MUTATION where nothing follows the "@": without its
 * language `name@` would mean the values of all languages, and a delete would take them.
 */
export function splitLanguage(written: string, position: Position): TaggedName {
  const tag = written.lastIndexOf('@');
  if (tag <= 0) return { name: written, lang: '' };
  if (tag < written.length - 1) return { name: written.slice(0, tag), lang: written.slice(tag + 1) };
  throw new GraphsteadError('INVALID_MUTATION', `${JSON.stringify(written)} names no language after "@"`, {
    position,
    fix: 'Write a tag such as en or en-US after it, or leave the "@" away.',
  });
}
