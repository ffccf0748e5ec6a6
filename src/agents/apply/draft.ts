import type { MaybePromise } from '../../base/index.js';
import type { GroupState, Key } from '../../commit/index.js';
import { endedKey, messageKey } from '../keys.js';
import type { AgentOp, PostOp, SpawnOp, SweepOp } from '../part.js';
import { mailboxFull, terminated, unknownAgent } from '../refusal.js';
import { encode, freshHead, type Head, NOTHING, split } from '../stored.js';
import { retry } from './alarm.js';
import type { AgentLimits } from './applier.js';
import { bury, dead } from './letter.js';
import { SWEPT_AT_ONCE, sweep } from './remains.js';
import { turn } from './turn.js';

export type Change =
  | { readonly key: Key; readonly value: Uint8Array | undefined }
  | { readonly from: Key; readonly to: Key };

/** The group that a draft may become part of. */
export interface Group {
  readonly state: GroupState;
  readonly limits: AgentLimits;
  readonly heads: ReadonlyMap<string, Head | undefined>;
}

/** One part on its way into the group: it can still be refused whole. */
export class Draft {
  readonly heads = new Map<string, Head>();
  readonly states = new Map<string, Uint8Array>();
  readonly changes: Change[] = [];
  readonly posts: { to: string; n: number }[] = [];
  /** events published so far, over all its agents */
  events = 0;
  #swept = 0;

  constructor(
    readonly group: Group,
    readonly ts: number,
    readonly wall: number,
  ) {}

  /** Takes ops in, in order. Most need nothing that is not here, and are done when this returns. */
  takeAll(ops: readonly AgentOp[], from = 0): MaybePromise<void> {
    for (let i = from; i < ops.length; i++) {
      const taken = this.#take(ops[i]);
      if (taken instanceof Promise) return taken.then(() => this.takeAll(ops, i + 1));
    }
  }

  #take(op: AgentOp): MaybePromise<void> {
    switch (op.op) {
      case 'turn':
        return turn(this, op);
      case 'post':
        return this.#post(op);
      case 'spawn':
        return this.#spawn(op);
      case 'retry':
        return retry(this, op);
      case 'sweep':
        return this.#sweep(op);
      case 'dead':
        return dead(this, op);
      case 'bury':
        return bury(this, op);
    }
  }

  find(id: string): Head | undefined {
    return this.heads.get(id) ?? this.group.heads.get(id);
  }

  /** Throws AGENT_UNKNOWN. */
  head(id: string): Head {
    const head = this.find(id);
    if (head === undefined) throw unknownAgent(id);
    return head;
  }

  put(key: Key, value: Uint8Array | undefined): void {
    this.changes.push({ key, value });
  }

  putAll(bytes: Uint8Array, key: (chunk: number) => Key): void {
    split(bytes).forEach((chunk, i) => {
      this.put(key(i), chunk);
    });
  }

  #post(op: PostOp): void {
    const head = this.head(op.to);
    if (head.status === 'terminated') {
      this.#refuse(op);
      return;
    }
    if (head.waiting >= this.group.limits.mailboxMessages) throw mailboxFull(op.to, head.waiting);
    const { kind, name, data, from, requestId } = op;
    const n = this.posts.length;
    this.posts.push({ to: op.to, n });
    this.putAll(encode({ kind, name, data, from, requestId }), (chunk) => messageKey(op.to, this.ts, n, chunk));
    this.heads.set(op.to, { ...head, waiting: head.waiting + 1 });
  }

  /** A caller from outside is told; a turn's mail to an agent that was stopped meanwhile is dropped, as all that waited there. */
  #refuse({ to, from }: PostOp): void {
    if (from === '') throw terminated(to);
    this.posts.push({ to, n: this.posts.length });
  }

  #spawn(op: SpawnOp): void {
    if (this.find(op.id) !== undefined) return; // a rerun of the turn that began it
    this.heads.set(op.id, freshHead(op.type, this.wall, 'starting'));
    this.#post({ op: 'post', to: op.id, from: op.from, kind: 'init', name: 'onInitialize' });
  }

  async #sweep({ id, at }: SweepOp): Promise<void> {
    const { state, limits } = this.group;
    const head = this.head(id);
    const most = SWEPT_AT_ONCE - this.#swept;
    if (head.status !== 'terminated' || most <= 0 || (await state.get(endedKey(id, at))) === undefined) return;
    const swept = await sweep(state, id, head, this.wall, limits, most);
    this.#swept += swept.taken;
    this.put(endedKey(id, at), undefined);
    for (const removal of swept.removals) {
      this.changes.push('key' in removal ? { ...removal, value: undefined } : removal);
    }
    if (swept.next !== undefined) this.put(endedKey(id, swept.next), NOTHING);
    this.heads.set(id, swept.head);
  }
}
