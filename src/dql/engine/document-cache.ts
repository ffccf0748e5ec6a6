import type { QueryDocument } from '../syntax/index.js';

/** texts longer than this are parsed again each time: they are rarely sent twice, and would fill the memory */
const MAX_TEXT = 64 * 1024;

/** Parsed queries by their text and the values of their variables; the least recently used ones go first. */
export class DocumentCache {
  readonly #documents = new Map<string, QueryDocument>();
  readonly #size: number;

  constructor(size: number) {
    this.#size = size;
  }

  get(
    text: string,
    variables: Readonly<Record<string, string>> | undefined,
    parse: () => QueryDocument,
  ): QueryDocument {
    const names = variables ? Object.keys(variables) : [];
    const key = names.length === 0 ? text : `${text}\0${JSON.stringify(variables)}`;
    if (key.length > MAX_TEXT) return parse();
    const known = this.#documents.get(key);
    const document = known ?? parse();
    if (known) this.#documents.delete(key);
    this.#documents.set(key, document);
    if (this.#documents.size > this.#size) {
      const oldest = this.#documents.keys().next();
      if (!oldest.done) this.#documents.delete(oldest.value);
    }
    return document;
  }
}
