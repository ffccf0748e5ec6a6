import { isDeepStrictEqual } from 'node:util';
import { assert, atOnce, GraphsteadError, STEP, type Steps } from '../../../base/index.js';
import type { Field, ObjectType } from '../../../sdl/index.js';
import type { Scope } from '../scope.js';
import {
  childInputs,
  givenEdges,
  inverseOf,
  isReference,
  type NodeInput,
  presentFields,
  uidOf,
  type XidValue,
  xidKey,
  xidsOf,
} from './input.js';
import type { Existing, Known } from './lookup.js';

/** One node that a mutation is about: what several objects of the input may name together. */
export interface Draft {
  /** what is written when the node is new (or upserted) */
  input: NodeInput;
  readonly xids: Map<string, XidValue>;
  /** referred to by uid */
  readonly uid?: number;
  /** every object that named it came through an edge whose inverse holds one node only */
  readonly objects: { readonly input: NodeInput; readonly sole: boolean }[];
  /** edges under its objects */
  readonly edges: { readonly field: Field; readonly child: Draft }[];
  /** edges to parents, which fill these fields in */
  readonly filled: Set<string>;
  /** an object of addT's own list */
  isTop: boolean;
}

/** The objects of an input as nodes: objects that share an @id value are one node. */
export class Drafts {
  readonly all: Draft[] = [];
  readonly #byXid = new Map<string, Draft>();
  readonly #byUid = new Map<number, Draft>();
  readonly #scope: Scope;
  #objects = 0;

  constructor(scope: Scope) {
    this.#scope = scope;
  }

  get xids(): XidValue[] {
    return this.all.flatMap((draft) => [...draft.xids.values()]);
  }

  get uids(): number[] {
    return [...this.#byUid.keys()];
  }

  /** A top-level object of addT. */
  add(input: NodeInput): Steps<Draft> {
    return this.#node(input, undefined, true);
  }

  /** An object that only names a node. */
  refer(input: NodeInput): Draft {
    return atOnce(this.#node(input, undefined, false));
  }

  /** The edges of an object that is itself no node: the patch of an update. */
  *edgesOf(input: NodeInput): Steps<Draft['edges']> {
    const edges: Draft['edges'] = [];
    yield* this.#descend(input, undefined, edges);
    return edges;
  }

  *#node(input: NodeInput, through: Field | undefined, isTop: boolean): Steps<Draft> {
    if (++this.#objects % STEP === 0) yield;
    const uid = isTop ? undefined : uidOf(input);
    if (uid !== undefined) return this.#byUid.get(uid) ?? this.#keepUid(uid, input);
    const xids = xidsOf(input);
    const inverse = through && inverseOf(this.#scope, through);
    const sole = inverse !== undefined && !inverse.type.list;
    const draft = this.#withXids(input, xids, isTop);
    const isWritten = draft.objects.length === 0 || this.#join(draft, input, sole, xids);
    draft.objects.push({ input, sole });
    if (isTop) draft.isTop = true;
    if (inverse) draft.filled.add(inverse.name);
    for (const xid of xids) {
      draft.xids.set(xid.field.name, xid);
      this.#byXid.set(xidKey(xid), draft);
    }
    if (isWritten) yield* this.#descend(input, inverse, draft.edges);
    return draft;
  }

  #keepUid(uid: number, input: NodeInput): Draft {
    const draft: Draft = { input, xids: new Map(), uid, objects: [], edges: [], filled: new Set(), isTop: false };
    this.#byUid.set(uid, draft);
    this.all.push(draft);
    return draft;
  }

  #withXids(input: NodeInput, xids: readonly XidValue[], isTop: boolean): Draft {
    for (const xid of xids) {
      const known = this.#byXid.get(xidKey(xid));
      if (known) return known;
    }
    const draft: Draft = { input, xids: new Map(), objects: [], edges: [], filled: new Set(), isTop };
    this.all.push(draft);
    return draft;
  }

  /** Two objects name one node: one of them must be a mere reference, or both the same. True when the later one counts. */
  #join(draft: Draft, input: NodeInput, sole: boolean, xids: readonly XidValue[]): boolean {
    const shared = xids.find((xid) => this.#byXid.get(xidKey(xid)) === draft);
    assert(shared, 'joined by an @id value');
    const clash = () =>
      new GraphsteadError('INVALID_VALUE', `duplicate XID found: ${shared.text}`, {
        fix: `Give the ${draft.input.type.name} with ${shared.field.name} ${JSON.stringify(shared.text)} once, and refer to it elsewhere by that value alone.`,
      });
    if (draft.input.type !== input.type && !this.#related(draft.input.type, input.type)) throw clash();
    if (isReference(input) && isWithin(input, draft.input)) {
      draft.input = withReference(draft.input, input);
      return false;
    }
    if (isReference(draft.input) && isWithin(draft.input, input)) {
      draft.input = withReference(input, draft.input);
      return true;
    }
    const isSame = draft.objects.some((object) => isDeepStrictEqual(input.values, object.input.values));
    if (!isSame || (sole && draft.objects.some((object) => object.sole))) throw clash();
    return false;
  }

  #related(a: ObjectType, b: ObjectType): boolean {
    return a.interfaces.includes(b.name) || b.interfaces.includes(a.name);
  }

  *#descend(input: NodeInput, skip: Field | undefined, edges: Draft['edges']): Steps<void> {
    for (const field of givenEdges(input)) {
      // the other end of the edge that led here is filled in by that edge
      if (skip && field.name === skip.name && !field.type.list) continue;
      for (const child of childInputs(this.#scope, field, input.values[field.name])) {
        edges.push({ field, child: yield* this.#node(child, field, false) });
      }
    }
  }
}

/** A reference may give an @id value that the object which says the rest of its node does not. */
function withReference(whole: NodeInput, reference: NodeInput): NodeInput {
  const given = presentFields(reference).map((name) => [name, reference.values[name]] as const);
  return { type: whole.type, values: { ...whole.values, ...Object.fromEntries(given) } };
}

/** Every value that `part` gives, `whole` gives too; or `whole` does not speak of it. */
function isWithin(part: NodeInput, whole: NodeInput): boolean {
  return presentFields(part).every((name) => {
    const other = whole.values[name];
    return other === undefined || other === null || isDeepStrictEqual(other, part.values[name]);
  });
}

/** The node that a draft names, when it is there. Throws when its values name several, or one of another type. */
export function existingNode(draft: Draft, known: Known): Existing | undefined {
  if (draft.uid !== undefined) return existingUid(draft, draft.uid, known);
  const found = new Map<number, { readonly existing: Existing; readonly xid: XidValue }>();
  for (const xid of draft.xids.values()) {
    for (const existing of known.byXid.get(xidKey(xid)) ?? []) {
      if (existing.types.includes(draft.input.type.storedName)) found.set(existing.uid, { existing, xid });
      else if (xid.field.xid?.interface) throw takenElsewhere(draft, xid);
    }
  }
  if (found.size > 1) {
    throw new GraphsteadError('UNIQUE_VIOLATION', 'multiple nodes found for given xid values, updation not possible', {
      fix: fixOfSeveral(draft, [...found.values()]),
    });
  }
  return [...found.values()][0]?.existing;
}

/** Nodes that the graph language or an import wrote may share a value of a field that is an @id. How many is not told: rules may hide them. */
function fixOfSeveral({ input: { type } }: Draft, found: readonly { readonly xid: XidValue }[]): string {
  const { field, text } = found[0].xid;
  if (found.some(({ xid }) => xid.field.name !== field.name)) return 'Give @id values that belong to one node.';
  return `Several nodes of ${type.name} have the ${field.name} ${text}: look at them with query${type.name}, and give each a value of its own.`;
}

function existingUid(draft: Draft, uid: number, known: Known): Existing {
  const existing = known.byUid.get(uid);
  if (existing?.types.includes(draft.input.type.storedName)) return existing;
  throw new GraphsteadError('INVALID_VALUE', `ID "0x${uid.toString(16)}" isn't a ${draft.input.type.name}`, {
    fix: `Give the id of a ${draft.input.type.name} that exists.`,
  });
}

export function alreadyExists(draft: Draft, known: Known): GraphsteadError {
  for (const xid of draft.xids.values()) {
    const here = known.byXid.get(xidKey(xid))?.some((each) => each.types.includes(draft.input.type.storedName));
    if (here) return taken(xid, draft.input.type.name, ', or send upsert: true to change the node that is there');
  }
  return new GraphsteadError('UNIQUE_VIOLATION', `the ${draft.input.type.name} exists already`, {
    fix: 'Choose another value of a field with @id.',
  });
}

/** @param otherwise what else can be done than to choose another value */
export function taken(xid: XidValue, typeName: string, otherwise = ''): GraphsteadError {
  return new GraphsteadError(
    'UNIQUE_VIOLATION',
    `id ${xid.text} already exists for field ${xid.field.name} inside type ${typeName}`,
    { fix: `Choose another value${otherwise}.` },
  );
}

function takenElsewhere(draft: Draft, xid: XidValue): GraphsteadError {
  const owner = xid.field.owner === draft.input.type.name ? draft.input.type.interfaces[0] : xid.field.owner;
  return new GraphsteadError(
    'UNIQUE_VIOLATION',
    `id ${xid.text} already exists for field ${xid.field.name} in some other implementing type of interface ${owner}`,
    { fix: 'Choose another value.' },
  );
}
