import { GraphsteadError } from '../../base/index.js';
import type { NodeReference, SubjectReference, Triple } from '../../dql/index.js';
import type { GraphChange } from '../../graph/index.js';
import type { NameMap } from './name-map.js';

interface ChangeOptions {
  readonly names: NameMap;
  /** uids of the file are names too: its nodes become new ones */
  readonly newUids?: boolean;
}

/** A triple of a file as a change. Throws INVALID_MUTATION on what only requests may say (`uid(v)`, `val(v)`, `*`). */
export function changeOf(triple: Triple, options: ChangeOptions): GraphChange {
  const { subject } = triple;
  const uid = subject.kind === 'blank' ? options.names.blank(subject.name) : uidOf(subject, options, triple);
  const { object, predicate } = triple;
  const facets =
    triple.facets.length > 0 ? { facets: [...triple.facets].sort((a, b) => (a.key < b.key ? -1 : 1)) } : {};
  if (object.kind === 'literal') {
    const list = triple.listed ? { list: true } : {};
    return { op: 'setValue', uid, predicate, value: object.value, lang: object.lang, ...list, ...facets };
  }
  if (object.kind === 'value' || object.kind === 'all') throw refused(triple);
  return { op: 'setEdge', uid, predicate, object: uidOf(object, options, triple), ...facets };
}

function uidOf(reference: NodeReference | SubjectReference, options: ChangeOptions, triple: Triple): number {
  const { names, newUids } = options;
  if (reference.kind === 'uid') {
    if (newUids) return names.uid(`0x${reference.uid.toString(16)}`);
    names.avoid(reference.uid);
    return reference.uid;
  }
  if (reference.kind === 'blank') return names.uid(`_:${reference.name}`);
  if (reference.kind === 'iri') {
    if (!newUids && NUMBER.test(reference.iri)) throw tooLarge(reference.iri, triple);
    return names.uid(reference.iri);
  }
  throw refused(triple);
}

/** An IRI that is a uid, but none that this store could have given. */
const NUMBER = /^(0x[0-9a-f]+|\d+)$/i;

function tooLarge(uid: string, { position }: Triple): GraphsteadError {
  return new GraphsteadError('INVALID_MUTATION', `the uid ${uid} is out of range: uids go from 1 to 2^53 - 2`, {
    position,
    fix: 'give all nodes new uids with --new-uids',
  });
}

function refused(triple: Triple): GraphsteadError {
  return new GraphsteadError('INVALID_MUTATION', 'uid(), val() and * cannot stand in a file to import', {
    position: triple.position,
    fix: 'send it to /mutate as an upsert',
  });
}
