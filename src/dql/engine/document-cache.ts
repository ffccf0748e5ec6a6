import { Recent } from '../../base/index.js';
import type { QueryDocument } from '../syntax/index.js';

/** texts longer than this are parsed again each time: they are rarely sent twice, and would fill the memory */
const MAX_TEXT = 64 * 1024;

/** Parsed queries by their text and the values of their variables; those used last are kept. */
export class DocumentCache {
  readonly #documents: Recent<QueryDocument>;

  constructor(size: number) {
    this.#documents = new Recent(size);
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
    if (known) return known;
    const document = parse();
    this.#documents.set(key, document);
    return document;
  }
}
