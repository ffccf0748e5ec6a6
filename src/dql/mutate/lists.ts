import { forEachInSteps, type Steps } from '../../base/index.js';
import { growsIntoList, type Schema } from '../../graph/index.js';
import type { MutationBlock, SubjectReference, Triple } from '../syntax/index.js';

/**
 * Predicates that the schema does not know and that are to hold lists: where a block gives one node several values, or
 * JSON gives it a list. As single values all but the last of them would be lost.
 */
export function* newLists(blocks: readonly MutationBlock[], schema: Schema): Steps<ReadonlySet<string>> {
  const lists = new Set<string>();
  const unknown = new Map<string, boolean>();
  for (const { set } of blocks) {
    const seen = new Set<string>();
    yield* forEachInSteps(set, (triple) => {
      const { predicate } = triple;
      if (!isPlainValue(triple)) return;
      let isNew = unknown.get(predicate);
      if (isNew === undefined) unknown.set(predicate, (isNew = schema.predicate(predicate) === undefined));
      if (!isNew) return;
      const place = `${subjectText(triple.subject)} ${predicate}`;
      if (triple.listed || seen.has(place)) lists.add(predicate);
      seen.add(place);
    });
  }
  return lists;
}

function isPlainValue({ object }: Triple): boolean {
  if (object.kind === 'value') return true;
  return object.kind === 'literal' && object.lang === '' && growsIntoList(object.value.type);
}

/** One text for one subject of a request. */
export function subjectText(subject: SubjectReference): string {
  switch (subject.kind) {
    case 'uid':
      return String(subject.uid);
    case 'blank':
      return `_:${subject.name}`;
    case 'variable':
      return `uid(${subject.name})`;
    case 'iri':
      return subject.iri;
    case 'all':
      return '*';
  }
}
