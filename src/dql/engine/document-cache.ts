import {
  atOnce,
  documentWeight,
  inSteps,
  type Limits,
  type MaybePromise,
  Recent,
  type Steps,
} from '../../base/index.js';
import type { QueryDocument, Selection } from '../syntax/index.js';

/** texts longer than this are parsed again each time, with pauses: they are rarely sent twice, and would fill the memory */
const MAX_TEXT = 64 * 1024;

/** Parsed queries by their text and the values of their variables; those used last are kept. */
export class DocumentCache {
  readonly #documents: Recent<QueryDocument>;

  constructor({ documentCache, documentCacheBytes }: Pick<Limits, 'documentCache' | 'documentCacheBytes'>) {
    this.#documents = new Recent(documentCache, documentCacheBytes);
  }

  get(
    text: string,
    variables: Readonly<Record<string, string>> | undefined,
    parse: () => Steps<QueryDocument>,
    pause: () => MaybePromise<void>,
  ): MaybePromise<QueryDocument> {
    const names = variables ? Object.keys(variables) : [];
    const key = names.length === 0 ? text : `${text}\0${JSON.stringify(variables)}`;
    if (key.length > MAX_TEXT) return inSteps(parse(), pause);
    const known = this.#documents.get(key);
    if (known) return known;
    const document = atOnce(parse());
    this.#documents.set(key, document, documentWeight(key, fieldsOf(document)));
    return document;
  }
}

function fieldsOf({ blocks }: QueryDocument): number {
  const below = (selections: readonly Selection[]): number =>
    selections.reduce((sum, each) => sum + 1 + ('children' in each ? below(each.children) : 0), 0);
  return blocks.reduce((sum, { children }) => sum + below(children), 0);
}
