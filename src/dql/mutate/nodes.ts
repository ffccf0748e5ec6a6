import {
  assert,
  forEachInSteps,
  GraphsteadError,
  inSteps,
  type Limits,
  type MaybePromise,
  type Position,
  STEP,
  type Steps,
} from '../../base/index.js';
import { type GraphChange, hexUid, type UidList } from '../../graph/index.js';
import type { QueryVariable } from '../contract.js';
import { GLOBAL_UID, uidsOf } from '../run/index.js';
import type { MutationBlock, SubjectReference, Triple } from '../syntax/index.js';

/** What a reference stands for: one node, or as many as its variable holds. */
export type Nodes = number | UidList;

const NONE: ReadonlySet<number> = new Set();
const NOTHING: UidList = new Float64Array(0);

/**
 * The uids behind the references of one request. New nodes get theirs from one lease: blank nodes by name, the same
 * name the same node in every block; and `uid(v)` of an empty variable where something is set on it.
 */
export class MutationNodes {
  readonly #variables: ReadonlyMap<string, QueryVariable>;
  readonly #blanks = new Map<string, number>();
  /** nodes made for `uid(v)` where v is empty */
  readonly #made = new Map<string, number>();
  #highestNamed = 0;
  /** whether a triple may come to nothing: `val(x)` of a node that has none */
  #mayBeUnused = false;

  constructor(variables: ReadonlyMap<string, QueryVariable>) {
    this.#variables = variables;
  }

  /** Notes each node that the blocks make. */
  *collect(blocks: readonly MutationBlock[]): Steps<void> {
    for (const { set } of blocks) {
      yield* forEachInSteps(set, (triple) => {
        this.#collect(triple.subject);
        this.#collect(triple.object);
        if (triple.object.kind === 'value') this.#mayBeUnused = true;
      });
    }
  }

  /** Leases a uid for each node that was noted, none that the blocks name themselves. Throws LIMIT_EXCEEDED. */
  async assign(
    blocks: readonly MutationBlock[],
    lease: (count: number) => Promise<number>,
    limits: Limits,
    pause: () => MaybePromise<void>,
  ): Promise<void> {
    const count = this.#blanks.size + this.#made.size;
    if (count === 0) return;
    if (count > limits.commitDeltas) {
      throw new GraphsteadError(
        'LIMIT_EXCEEDED',
        `the mutation makes more than ${limits.commitDeltas} nodes (limit commitDeltas)`,
        { fix: 'Split it into several requests.' },
      );
    }
    const uids = await this.#free(blocks, count, lease, pause);
    await inSteps(this.#give(uids), pause);
  }

  *#give(uids: ArrayLike<number>): Steps<void> {
    let given = 0;
    for (const fresh of [this.#blanks, this.#made]) {
      for (const name of fresh.keys()) {
        if (given % STEP === STEP - 1) yield;
        fresh.set(name, uids[given++]);
      }
    }
  }

  /** A uid that the request names is raised past by its commit, and may be leased before it. */
  async #free(
    blocks: readonly MutationBlock[],
    count: number,
    lease: (count: number) => Promise<number>,
    pause: () => MaybePromise<void>,
  ): Promise<ArrayLike<number>> {
    const free: number[] = [];
    // twice as many each time, which gets past any run of named ones soon
    for (let asked = count; free.length < count; asked *= 2) {
      const first = await lease(asked);
      const named = first > this.#highestNamed ? NONE : await inSteps(namedWithin(blocks, first, first + asked), pause);
      for (let uid = first; uid < first + asked && free.length < count; uid++) if (!named.has(uid)) free.push(uid);
    }
    return free;
  }

  #collect(reference: Triple['subject'] | Triple['object']): void {
    if (reference.kind === 'blank') this.#blanks.set(reference.name, 0);
    else if (reference.kind === 'uid') this.#highestNamed = Math.max(this.#highestNamed, reference.uid);
    else if (reference.kind === 'variable' && this.#known(reference.name).length === 0) {
      this.#made.set(reference.name, 0);
    }
  }

  #known(variable: string): UidList {
    const uids = uidsOf(this.#variables.get(variable));
    // one value for everything belongs to no node
    return uids.length === 1 && uids[0] === GLOBAL_UID ? NOTHING : uids;
  }

  /**
   * Names of new nodes (without `_:`, or `uid(v)`) to their uids as 0x text: those that a change is about. One whose
   * only values were `val(x)` of nothing never came to be.
   */
  *uidsIn(changes: readonly GraphChange[]): Steps<ReadonlyMap<string, string>> {
    const uids = new Map<string, string>();
    if (this.#blanks.size + this.#made.size === 0) return uids;
    const used = this.#mayBeUnused ? yield* usedIn(changes) : undefined;
    let named = 0;
    for (const [fresh, show] of [
      [this.#blanks, (name: string) => name],
      [this.#made, (name: string) => `uid(${name})`],
    ] as const) {
      for (const [name, uid] of fresh) {
        if (++named % STEP === 0) yield;
        if (used === undefined || used.has(uid)) uids.set(show(name), hexUid(uid));
      }
    }
    return uids;
  }

  /** What a reference of a `set` stands for: at least one node. */
  forSet(reference: SubjectReference, position: Position): Nodes {
    const known = reference.kind === 'variable' ? this.#known(reference.name) : NOTHING;
    if (known.length > 0) return known;
    const uid = this.#fresh(reference) ?? plain(reference, position);
    assert(uid !== undefined && uid > 0, 'every node of a set has a uid');
    return uid;
  }

  /** What a reference of a `delete` stands for; nothing for a name or a variable that has no node. */
  forDelete(reference: SubjectReference, position: Position): Nodes {
    if (reference.kind === 'variable') return this.#known(reference.name);
    return (reference.kind === 'blank' ? this.#fresh(reference) : plain(reference, position)) ?? NOTHING;
  }

  #fresh(reference: SubjectReference): number | undefined {
    if (reference.kind === 'blank') return this.#blanks.get(reference.name);
    return reference.kind === 'variable' ? this.#made.get(reference.name) : undefined;
  }
}

function plain(reference: SubjectReference, position: Position): number | undefined {
  if (reference.kind === 'uid') return reference.uid;
  if (reference.kind !== 'iri') return undefined;
  throw new GraphsteadError('INVALID_MUTATION', `<${reference.iri}> is not a uid`, {
    position,
    fix: 'Write a uid as <0x1f>, a new node as _:name; to keep ids of another system, store them in a predicate.',
  });
}

function* usedIn(changes: readonly GraphChange[]): Steps<ReadonlySet<number>> {
  const used = new Set<number>();
  yield* forEachInSteps(changes, (change) => {
    used.add(change.uid);
    if (change.op === 'setEdge') used.add(change.object);
  });
  return used;
}

function* namedWithin(blocks: readonly MutationBlock[], from: number, to: number): Steps<ReadonlySet<number>> {
  const named = new Set<number>();
  for (const { set } of blocks) {
    yield* forEachInSteps(set, ({ subject, object }) => {
      for (const each of [subject, object]) {
        if (each.kind === 'uid' && each.uid >= from && each.uid < to) named.add(each.uid);
      }
    });
  }
  return named;
}
