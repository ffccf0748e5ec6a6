import { GraphsteadError, type Position } from '../../base/index.js';

/** The name of a predicate, and the language that was written behind it; "" without one. */
export interface TaggedName {
  readonly name: string;
  readonly lang: string;
}

/**
 * A tag as RDF has it, with digits in its first part too, which the peer takes: a value under another could neither be
 * asked for in a query nor be read from an export.
 */
const TAG = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/i;

/**
 * `name@en` is the predicate `name` in English. Throws INVALID_MUTATION on what is no tag; so on none behind the "@":
 * `name@` would mean the values of all languages, and a delete would take them.
 */
export function splitLanguage(written: string, position: Position): TaggedName {
  const tag = written.lastIndexOf('@');
  if (tag <= 0) return { name: written, lang: '' };
  const lang = written.slice(tag + 1);
  if (TAG.test(lang)) return { name: written.slice(0, tag), lang };
  throw new GraphsteadError('INVALID_MUTATION', `${JSON.stringify(lang)} is no language of a value`, {
    position,
    fix: 'Write a tag such as en or en-US after "@". Deleting the predicate itself deletes the values of all languages.',
  });
}
