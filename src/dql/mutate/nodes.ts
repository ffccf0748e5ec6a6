import { assert, GraphsteadError, type Limits, type Position } from '../../base/index.js';
import type { UidList } from '../../graph/index.js';
import type { QueryVariable } from '../contract.js';
import { GLOBAL_UID, uidsOf } from '../run/index.js';
import type { MutationBlock, NodeReference, SubjectReference, Triple } from '../syntax/index.js';

/** What a reference stands for where its variable or name has nothing. */
const NOTHING: UidList = new Float64Array(0);

/**
 * The uids behind the references of one request. New nodes get theirs from one lease: blank nodes by name, the same
 * name the same node in every block; and `uid(v)` of an empty variable where something is set on it.
 */
export class MutationNodes {
  readonly #variables: ReadonlyMap<string, QueryVariable>;
  readonly #fresh = new Map<string, UidList>();
  readonly #uids: Record<string, string> = Object.create(null) as Record<string, string>;

  constructor(variables: ReadonlyMap<string, QueryVariable>) {
    this.#variables = variables;
  }

  /** Leases a uid for each node that the blocks make. Throws INVALID_MUTATION on references that are none here. */
  async assign(
    blocks: readonly MutationBlock[],
    lease: (count: number) => Promise<number>,
    limits: Limits,
  ): Promise<void> {
    const names = new Set<string>();
    for (const { set } of blocks) {
      for (const triple of set) {
        // val(x) without a value makes no triple, and so no node either: that is known only node by node
        this.#collect(triple.subject, names);
        this.#collect(triple.object, names);
      }
    }
    if (names.size === 0) return;
    if (names.size > limits.commitDeltas) {
      throw new GraphsteadError(
        'LIMIT_EXCEEDED',
        `the mutation makes more than ${limits.commitDeltas} nodes (limit commitDeltas)`,
        {
          fix: 'Split it into several requests.',
        },
      );
    }
    let uid = await lease(names.size);
    for (const name of names) {
      this.#fresh.set(name, Float64Array.of(uid));
      this.#uids[name.startsWith('_:') ? name.slice(2) : name] = `0x${uid.toString(16)}`;
      uid++;
    }
  }

  #collect(reference: Triple['subject'] | Triple['object'], names: Set<string>): void {
    if (reference.kind === 'blank') names.add(`_:${reference.name}`);
    else if (reference.kind === 'variable' && this.#known(reference.name).length === 0)
      names.add(`uid(${reference.name})`);
  }

  #known(variable: string): UidList {
    const uids = uidsOf(this.#variables.get(variable));
    // one value for everything belongs to no node
    return uids.length === 1 && uids[0] === GLOBAL_UID ? NOTHING : uids;
  }

  /** Names of new nodes (without `_:`, or `uid(v)`) to their uids as 0x text. */
  get uids(): Readonly<Record<string, string>> {
    return this.#uids;
  }

  /** Distinct uids that a reference of a `set` stands for: at least one. */
  forSet(reference: NodeReference | SubjectReference, position: Position): UidList {
    if (reference.kind === 'variable') {
      const known = this.#known(reference.name);
      if (known.length > 0) return known;
    }
    const uids = this.#fresh.get(freshName(reference)) ?? plain(reference, position);
    assert(uids, 'every node of a set has a uid');
    return uids;
  }

  /** Distinct uids that a reference of a `delete` stands for; none for a name or a variable that has none. */
  forDelete(reference: NodeReference | SubjectReference, position: Position): UidList {
    if (reference.kind === 'variable') return this.#known(reference.name);
    if (reference.kind === 'blank') return this.#fresh.get(freshName(reference)) ?? NOTHING;
    return plain(reference, position) ?? NOTHING;
  }
}

function freshName(reference: NodeReference | SubjectReference): string {
  if (reference.kind === 'blank') return `_:${reference.name}`;
  return reference.kind === 'variable' ? `uid(${reference.name})` : '';
}

function plain(reference: NodeReference | SubjectReference, position: Position): UidList | undefined {
  if (reference.kind === 'uid') return Float64Array.of(reference.uid);
  if (reference.kind !== 'iri') return undefined;
  throw new GraphsteadError('INVALID_MUTATION', `<${reference.iri}> is not a uid`, {
    position,
    fix: 'Write a uid as <0x1f>, a new node as _:name; to keep ids of another system, store them in a predicate.',
  });
}
