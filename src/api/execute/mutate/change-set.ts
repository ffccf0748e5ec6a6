import {
  assert,
  atOnce,
  DEFAULT_LIMITS,
  GraphsteadError,
  inSteps,
  type MaybePromise,
  STEP,
  type Steps,
  TYPE_PREDICATE,
} from '../../../base/index.js';
import { Pace, type RunOptions } from '../../../dql/index.js';
import type { GraphChange, GraphReader } from '../../../graph/index.js';
import type { Field, ObjectType } from '../../../sdl/index.js';
import type { DateTime } from '../../../values/index.js';
import { isLookedThrough } from '../auth/edge.js';
import type { Scope } from '../scope.js';
import { alreadyExists, type Draft, existingNode } from './draft.js';
import { inverseOf, type NodeInput, type XidValue, xidKey, xidsOf } from './input.js';
import type { Known } from './lookup.js';
import { defaultInput, languageOf, setValues, toValues } from './value.js';

/** A node that is changed as a consequence of what is done to another: the update rules of its type must allow it. */
interface Changed {
  readonly type: ObjectType;
  readonly uid: number;
}

interface TakenOver {
  readonly uid: number;
  readonly field: Field;
}

/** What a mutation will write. New nodes have negative uids until `settle` gives them real ones. */
export class ChangeSet {
  readonly changes: GraphChange[] = [];
  readonly created: { readonly type: ObjectType; readonly uid: number }[] = [];
  readonly alsoChanged: Changed[] = [];
  readonly #uids = new Map<Draft, number>();
  readonly #linked = new Set<string>();
  /** which node took an @id value */
  readonly #owners = new Map<string, number>();
  readonly #pace: Pace;
  readonly #most: number;
  #steps = 0;
  /** what single edges hold after the changes so far, where they were changed */
  readonly #held = new Map<string, readonly number[]>();
  /** single edges with @restrict that were taken over from their other ends */
  readonly #takenOver = new Map<string, TakenOver>();

  constructor(
    readonly scope: Scope,
    readonly reader: GraphReader,
    readonly known: Known,
    readonly now: DateTime,
    run: RunOptions,
  ) {
    this.#pace = new Pace(run);
    this.#most = (run.limits ?? DEFAULT_LIMITS).commitDeltas;
  }

  /** A promise to await when it is time for a pause. Throws LIMIT_EXCEEDED when there are more changes than a commit may have. */
  pause(): MaybePromise<void> {
    if (this.changes.length > this.#most) throw tooManyChanges(this.#most);
    return ++this.#steps % STEP === 0 ? this.#pace.pause() : undefined;
  }

  /** The node of a draft, created (with everything under it) when it is not there; what is there is only referred to. */
  async place(draft: Draft): Promise<number> {
    const placed = this.#uids.get(draft);
    if (placed !== undefined) return placed;
    const paused = this.pause();
    if (paused) await paused;
    const existing = existingNode(draft, this.known);
    if (!existing) return await this.#create(draft);
    if (draft.isTop) throw alreadyExists(draft, this.known);
    this.#uids.set(draft, existing.uid);
    return existing.uid;
  }

  /** A top-level object that may change the node that is there; others may refer to it before its turn comes. */
  keep(draft: Draft, uid: number): void {
    this.#uids.set(draft, uid);
  }

  /** A top-level object whose node is there is written onto it. */
  async upsert(draft: Draft, uid: number): Promise<void> {
    this.writeValues(uid, draft.input, 'update');
    await this.#writeEdges(draft, uid);
  }

  async #create(draft: Draft): Promise<number> {
    const { type } = draft.input;
    if (type.kind === 'interface') {
      throw new GraphsteadError('INVALID_VALUE', `the input refers to a ${type.name} that is not there`, {
        fix: `Add it first, as one of its types: ${type.members.join(', ')}.`,
      });
    }
    requireFields(draft);
    const uid = -1 - this.created.length;
    this.created.push({ type, uid });
    this.#uids.set(draft, uid);
    for (const name of [type.storedName, ...this.#interfacesOf(type)]) {
      this.#set(uid, TYPE_PREDICATE, name);
    }
    this.writeValues(uid, draft.input, 'add');
    await this.#writeEdges(draft, uid);
    return uid;
  }

  #interfacesOf(type: ObjectType): string[] {
    return type.interfaces.map((name) => this.scope.model.object(name)?.storedName ?? name);
  }

  #set(uid: number, predicate: string, text: string): void {
    this.changes.push({ op: 'setValue', uid, predicate, value: { type: 'string', value: text }, lang: '' });
  }

  #setAll(uid: number, field: Field, given: unknown): void {
    for (const change of setValues(uid, field, given, this.scope.names)) this.changes.push(change);
  }

  /** What is stored was looked at before; here no other node of the same mutation may have taken the value. */
  #claim(uid: number, type: ObjectType, xid: XidValue): void {
    const key = `${xid.field.xid?.interface ? '' : type.name} ${xidKey(xid)}`;
    const owner = this.#owners.get(key) ?? uid;
    this.#owners.set(key, owner);
    if (owner === uid) return;
    throw new GraphsteadError('INVALID_VALUE', `duplicate XID found: ${xid.text}`, {
      fix: `Give ${xid.field.name} ${JSON.stringify(xid.text)} to one ${type.name}.`,
    });
  }

  /** Scalars, the password, and the defaults of what is not given; null is no value for what a new node must have. */
  writeValues(uid: number, input: NodeInput, action: 'add' | 'update'): void {
    const { type, values } = input;
    for (const xid of xidsOf(input)) this.#claim(uid, type, xid);
    for (const field of type.fields) {
      if (field.role !== 'scalar' || !field.storage) continue;
      const given = values[field.name];
      if (given !== undefined && given !== null) {
        this.#setAll(uid, field, given);
        continue;
      }
      const fallback = field.default?.[action];
      const isOpen = given === undefined || (action === 'add' && field.type.nonNull);
      if (fallback && isOpen) this.#setAll(uid, field, defaultInput(fallback, this.now));
    }
    const password = type.password && values[type.password.field];
    if (type.password && typeof password === 'string') this.#set(uid, type.password.predicate, password);
  }

  async #writeEdges(draft: Draft, uid: number): Promise<void> {
    for (const { field, child } of draft.edges) await this.link(uid, field, await this.place(child));
  }

  /** An edge and its inverse; edges that single fields held before go, on both sides. */
  async link(uid: number, field: Field, child: number): Promise<void> {
    const key = `${edgeKey(uid, field)} ${child}`;
    if (this.#linked.has(key)) return;
    this.#linked.add(key);
    const paused = this.pause();
    if (paused) await paused;
    const inverse = inverseOf(this.scope, field);
    await this.#hold(uid, field, inverse, child);
    if (!inverse) {
      // nothing is written on the node there, so a deletion at the same time would not notice
      if (child >= 0) this.changes.push({ op: 'keepNode', uid: child });
      return;
    }
    this.#linked.add(`${edgeKey(child, inverse)} ${uid}`);
    await this.#noteOtherEnd(child, inverse, uid, false);
    await this.#hold(child, inverse, field, uid);
  }

  /** Sets one end; a single edge lets go of what it held, with the edge back. */
  async #hold(uid: number, field: Field, back: Field | undefined, child: number): Promise<void> {
    if (!field.type.list) {
      const staged = this.#held.get(edgeKey(uid, field));
      for (const old of staged ?? (await this.targets(uid, field))) {
        if (old === child) continue;
        this.#edge('deleteEdge', uid, field, old);
        if (back) this.#letGo(old, back, uid, staged !== undefined);
      }
      this.#held.set(edgeKey(uid, field), [child]);
    }
    this.#edge('setEdge', uid, field, child);
  }

  #letGo(uid: number, field: Field, child: number, isStaged: boolean): void {
    this.#edge('deleteEdge', uid, field, child);
    if (!field.type.list) this.#held.set(edgeKey(uid, field), []);
    if (field.restrict && !this.scope.names.dgraph) this.#takenOver.set(edgeKey(uid, field), { uid, field });
    const type = this.scope.model.object(field.owner);
    if (type && !isStaged) this.alsoChanged.push({ type, uid });
  }

  /** Edges with @restrict that were taken over, and lead nowhere in the end. */
  get emptied(): TakenOver[] {
    return [...this.#takenOver].flatMap(([key, each]) => (this.#held.get(key)?.length === 0 ? [each] : []));
  }

  /** The rules of the node at an edge's other end, where they hang on the edge that is made or removed there. */
  async #noteOtherEnd(uid: number, field: Field, child: number, isThere: boolean): Promise<void> {
    const { model, schema, authorized, names } = this.scope;
    if (uid < 0 || !authorized || names.dgraph || !isLookedThrough(model, schema, field)) return;
    const holds = child >= 0 && (await this.targets(uid, field)).includes(child);
    if (holds !== isThere) return;
    const type = model.object(field.owner);
    if (type) this.alsoChanged.push({ type, uid });
  }

  /** Removes an edge and its inverse. */
  async unlink(uid: number, field: Field, child: number): Promise<void> {
    await this.#drop(uid, field, child);
    const inverse = inverseOf(this.scope, field);
    if (!inverse) return;
    await this.#noteOtherEnd(child, inverse, uid, true);
    await this.#drop(child, inverse, uid);
  }

  async #drop(uid: number, field: Field, child: number): Promise<void> {
    this.#edge('deleteEdge', uid, field, child);
    if (field.type.list) return;
    const key = edgeKey(uid, field);
    const held = this.#held.get(key) ?? (await this.targets(uid, field));
    if (held.includes(child)) this.#held.set(key, []);
  }

  /** Nodes at the other end of an edge field, as stored. */
  async targets(uid: number, field: Field): Promise<readonly number[]> {
    assert(field.storage, `${field.name} is stored`);
    const predicate = this.reader.schema.predicate(field.storage.predicate);
    if (uid < 0 || !predicate) return [];
    const { rows } = await this.reader.edges(predicate, Float64Array.of(uid), { reverse: field.storage.reverse });
    return Array.from(rows[0] ?? []);
  }

  #edge(op: 'setEdge' | 'deleteEdge', uid: number, field: Field, object: number): void {
    assert(field.storage, `${field.name} is stored`);
    const { predicate, reverse } = field.storage;
    // what is taken away may be set again
    if (op === 'deleteEdge') this.#linked.delete(`${edgeKey(uid, field)} ${object}`);
    this.changes.push(reverse ? { op, uid: object, predicate, object: uid } : { op, uid, predicate, object });
  }

  /** Removes values of a field: all for null, else those given where they are the current ones. */
  removeValues(uid: number, field: Field, given: unknown): void {
    assert(field.storage, `${field.name} is stored`);
    const { predicate } = field.storage;
    const lang = languageOf(field);
    if (given === null) {
      // values with a tag are those of other fields; the peer takes them along
      const isTagged = lang !== '' || (this.reader.schema.predicate(predicate)?.lang && !this.scope.names.dgraph);
      this.changes.push(
        isTagged ? { op: 'deleteLang', uid, predicate, lang } : { op: 'deletePredicate', uid, predicate },
      );
      return;
    }
    for (const value of toValues(field, given, this.scope.names)) {
      this.changes.push({ op: 'deleteValue', uid, predicate, value, lang });
    }
  }

  removePassword(uid: number, predicate: string): void {
    this.changes.push({ op: 'deletePredicate', uid, predicate });
  }

  /** Gives new nodes their uids: `first` and those after it. */
  settle(first: number): MaybePromise<void> {
    const settling = this.#settle(first);
    if (this.changes.length < STEP) atOnce(settling);
    else return inSteps(settling, () => this.#pace.pause());
  }

  *#settle(first: number): Steps<void> {
    const real = (uid: number): number => (uid < 0 ? first - 1 - uid : uid);
    for (let i = 0; i < this.changes.length; i++) {
      if (i % STEP === STEP - 1) yield;
      const change = this.changes[i];
      const uid = real(change.uid);
      this.changes[i] = 'object' in change ? { ...change, uid, object: real(change.object) } : { ...change, uid };
    }
    this.created.forEach((node, i) => {
      this.created[i] = { ...node, uid: real(node.uid) };
    });
    for (const [draft, uid] of this.#uids) this.#uids.set(draft, real(uid));
  }

  /** Where a placed draft is. */
  uidOf(draft: Draft): number {
    const uid = this.#uids.get(draft);
    assert(uid !== undefined, 'the draft was placed');
    return uid;
  }
}

function tooManyChanges(most: number): GraphsteadError {
  return new GraphsteadError('LIMIT_EXCEEDED', `a mutation may make ${most} changes (limits.commitDeltas)`, {
    fix: 'Let its filter match fewer nodes, and send it again until none is left.',
  });
}

const edgeKey = (uid: number, field: Field): string => `${uid} ${field.owner}.${field.name}`;

/** A new nested node needs what addT's own input would have demanded. */
function requireFields(draft: Draft): void {
  if (draft.isTop) return;
  const { type, values } = draft.input;
  for (const field of type.fields) {
    if (!field.type.nonNull || field.default?.add || draft.filled.has(field.name)) continue;
    if (field.role !== 'scalar' && field.role !== 'edge') continue;
    if (values[field.name] !== undefined && values[field.name] !== null) continue;
    if (field.xid) {
      throw new GraphsteadError('INVALID_VALUE', `field ${field.name} cannot be empty`, {
        fix: `Give the ${type.name} its ${field.name}.`,
      });
    }
    throw new GraphsteadError(
      'INVALID_VALUE',
      `type ${type.name} requires a value for field ${field.name}, but no value present`,
      { fix: `Give ${field.name}, or the id of a ${type.name} that exists.` },
    );
  }
}
