import { GraphsteadError, type Limits } from '../base/index.js';
import type { Applier, GroupState, GroupWork, Key } from '../commit/index.js';
import { alarmKey, deadKey, dueKey, endedKey, eventKey, headKey, messageKey, retryKey, stateKey } from './keys.js';
import type {
  AgentOp,
  AgentPart,
  AgentResult,
  AlarmPart,
  DeadOp,
  PostOp,
  RetryOp,
  SpawnOp,
  SweepOp,
  TurnOp,
} from './part.js';
import { SWEPT_AT_ONCE, sweep, timeOf } from './remains.js';
import {
  decode,
  encode,
  type Head,
  pieces,
  split,
  type StoredAlarm,
  type StoredEvent,
  type StoredLetter,
} from './stored.js';

type AgentLimits = Pick<Limits, 'eventsPerAgent' | 'eventAgeMs' | 'mailboxMessages' | 'deadLetters' | 'alarmsPerAgent'>;

/** How the agents write. Register it with the committer under its name. */
export function agentsApplier(limits: AgentLimits): Applier<AgentPart, AgentResult> {
  return { name: 'agents', begin: (state) => new AgentWork(state, limits) };
}

const NOTHING = new Uint8Array(0);

type Change = { readonly key: Key; readonly value: Uint8Array | undefined } | { readonly from: Key; readonly to: Key };

/** One group's worth of agents: heads and states are merged here and written once. */
class AgentWork implements GroupWork<AgentPart, AgentResult> {
  readonly heads = new Map<string, Head | undefined>();
  readonly #changed = new Set<string>();
  readonly #states = new Map<string, Uint8Array>();
  /** chunks of the state that the store holds now */
  readonly #chunks = new Map<string, number>();

  constructor(
    readonly state: GroupState,
    readonly limits: AgentLimits,
  ) {}

  async prepare(parts: readonly AgentPart[]): Promise<void> {
    const ids = [...new Set(parts.flatMap((part) => part.ops.map(agentOf)))].filter((id) => !this.heads.has(id));
    const found = await this.state.getMany(ids.map(headKey));
    ids.forEach((id, i) => {
      const bytes = found[i];
      const head = bytes === undefined ? undefined : decode<Head>(bytes);
      this.heads.set(id, head);
      this.#chunks.set(id, head?.chunks ?? 0);
    });
  }

  async apply(part: AgentPart, commitTs: number, wall: number): Promise<AgentResult> {
    const draft = new Draft(this, commitTs, wall);
    for (const op of part.ops) await draft.take(op);
    // Nothing was refused: what was drafted becomes the group's.
    for (const [id, head] of draft.heads) {
      this.heads.set(id, head);
      this.#changed.add(id);
    }
    for (const [id, bytes] of draft.states) this.#states.set(id, bytes);
    for (const change of draft.changes) {
      if ('key' in change) this.state.put(change.key, change.value);
      else this.state.deleteRange(change.from, change.to);
    }
    return { posts: draft.posts };
  }

  flush(): void {
    for (const id of this.#changed) {
      const head = this.heads.get(id);
      if (head === undefined) continue;
      this.state.put(headKey(id), encode(head));
      const bytes = this.#states.get(id);
      const chunks = bytes === undefined ? [] : split(bytes).slice(0, head.chunks);
      for (const [i, chunk] of chunks.entries()) this.state.put(stateKey(id, i), chunk);
      // what a stopped agent leaves is swept later, a bounded part at a time
      const stored = head.status === 'terminated' ? 0 : (this.#chunks.get(id) ?? 0);
      for (let i = head.chunks; i < stored; i++) this.state.put(stateKey(id, i), undefined);
    }
  }

  landed(): void {}
  failed(): void {}
}

function agentOf(op: AgentOp): string {
  return op.op === 'post' ? op.to : op.id;
}

/** One part on its way into the group: it can still be refused whole. */
class Draft {
  readonly heads = new Map<string, Head>();
  readonly states = new Map<string, Uint8Array>();
  readonly changes: Change[] = [];
  readonly posts: { to: string; n: number }[] = [];
  #events = 0;
  #swept = 0;

  constructor(
    readonly work: AgentWork,
    readonly ts: number,
    readonly wall: number,
  ) {}

  async take(op: AgentOp): Promise<void> {
    switch (op.op) {
      case 'turn':
        return this.#turn(op);
      case 'post':
        return this.#post(op);
      case 'spawn':
        return this.#spawn(op);
      case 'retry':
        return this.#retry(op);
      case 'sweep':
        return this.#sweep(op);
      case 'dead':
        return this.#dead(op);
      case 'bury': {
        const head = this.#head(op.id);
        this.heads.set(op.id, { ...head, dead: Math.max(0, head.dead - 1) });
        for (let i = 0; i < pieces(op.bytes); i++) this.#put(deadKey(op.id, op.seq, i), undefined);
        return;
      }
    }
  }

  #find(id: string): Head | undefined {
    return this.heads.get(id) ?? this.work.heads.get(id);
  }

  #head(id: string): Head {
    const head = this.#find(id);
    if (head === undefined) throw unknownAgent(id);
    return head;
  }

  #put(key: Key, value: Uint8Array | undefined): void {
    this.changes.push({ key, value });
  }

  #putAll(bytes: Uint8Array, key: (chunk: number) => Key): void {
    for (const [i, chunk] of split(bytes).entries()) this.#put(key(i), chunk);
  }

  async #turn(op: TurnOp): Promise<void> {
    const before = op.create === undefined ? this.#head(op.id) : this.#created(op.id, op.create.type);
    if (before.status === 'terminated') throw terminated(op.id);
    if (before.turns !== op.expect) {
      throw new GraphsteadError('TXN_ABORTED', `a turn of agent ${op.id} came from an activation that has ended`);
    }
    let head: Head = { ...before, status: 'active', turns: before.turns + 1 };
    if (op.state !== undefined) {
      const bytes = Buffer.from(op.state, 'utf8');
      const chunks = bytes.length === 0 ? 0 : pieces(bytes.length);
      this.states.set(op.id, bytes);
      head = { ...head, chunks, version: op.version ?? head.version };
    }
    head = this.#consume(op.id, head, op.consumed);
    head = await this.#fire(op.id, head, op.fired);
    for (const alarm of op.alarms ?? []) head = await this.#alarm(op.id, head, alarm);
    head = await this.#publish(op, head);
    if (op.terminate === true) head = this.#terminate(op.id, head);
    this.heads.set(op.id, head);
  }

  #created(id: string, type: string): Head {
    if (this.#find(id) !== undefined) throw new GraphsteadError('TXN_ABORTED', `agent ${id} exists already`);
    return freshHead(type, this.wall, 'starting');
  }

  #consume(id: string, head: Head, message: TurnOp['consumed']): Head {
    if (message === undefined) return head;
    const { ts, n, bytes } = message;
    for (let i = 0; i < pieces(bytes); i++) this.#put(messageKey(id, ts, n, i), undefined);
    this.#put(retryKey(id, ts, n), undefined);
    return { ...head, waiting: Math.max(0, head.waiting - 1) };
  }

  async #fire(id: string, head: Head, fired: TurnOp['fired']): Promise<Head> {
    if (fired === undefined) return head;
    const stored = await this.work.state.get(alarmKey(id, fired.id));
    if (stored === undefined || decode<StoredAlarm>(stored).at !== fired.at) return head;
    this.#put(alarmKey(id, fired.id), undefined);
    this.#put(dueKey(id, fired.at, fired.id), undefined);
    return { ...head, alarms: head.alarms - 1 };
  }

  /** The alarm with what this part has done to it. */
  async #stored(key: Key): Promise<StoredAlarm | undefined> {
    const pending = this.changes.findLast((change) => 'key' in change && Buffer.compare(change.key, key) === 0);
    const bytes = pending !== undefined && 'key' in pending ? pending.value : await this.work.state.get(key);
    return bytes === undefined ? undefined : decode<StoredAlarm>(bytes);
  }

  async #retry({ id, message, alarm, attempts, notBefore, error }: RetryOp): Promise<void> {
    if (this.#head(id).status === 'terminated') return;
    if (message !== undefined) this.#put(retryKey(id, message.ts, message.n), encode({ attempts, notBefore, error }));
    if (alarm === undefined) return;
    const key = alarmKey(id, alarm.id);
    const stored = await this.#stored(key);
    // an alarm that was moved meanwhile begins anew
    if (stored?.at === alarm.at) this.#put(key, encode({ ...stored, attempts, notBefore }));
  }

  async #alarm(id: string, head: Head, alarm: AlarmPart): Promise<Head> {
    const key = alarmKey(id, alarm.id);
    const old = await this.#stored(key);
    if (old !== undefined) this.#put(dueKey(id, old.at, alarm.id), undefined);
    const count = head.alarms + (alarm.at === undefined ? 0 : 1) - (old === undefined ? 0 : 1);
    if (count > this.work.limits.alarmsPerAgent) {
      throw new GraphsteadError(
        'LIMIT_EXCEEDED',
        `agent ${id} sets more than ${this.work.limits.alarmsPerAgent} alarms`,
        {
          fix: 'reuse alarm ids, or raise limits.alarmsPerAgent',
        },
      );
    }
    if (alarm.at === undefined) this.#put(key, undefined);
    else {
      const { at, name = 'alarm', data } = alarm;
      this.#put(key, encode({ at, name, data } satisfies StoredAlarm));
      this.#put(dueKey(id, at, alarm.id), NOTHING);
    }
    return { ...head, alarms: count };
  }

  async #publish(op: TurnOp, head: Head): Promise<Head> {
    const events = op.events ?? [];
    if (events.length === 0) return head;
    let [first, next] = head.events;
    for (const { name, data } of events) {
      const event: StoredEvent = { ts: this.ts, n: this.#events++, at: this.wall, name, data };
      const seq = next++;
      this.#putAll(encode(event), (chunk) => eventKey(op.id, seq, chunk));
    }
    const from = first;
    const room = events.length * 2; // a commit trims at most twice what it adds
    first = Math.max(first, Math.min(first + room, next - this.work.limits.eventsPerAgent));
    while (first - from < room && first < head.events[1] && (await this.#isAged(op.id, first))) first++;
    if (first > from) this.changes.push({ from: eventKey(op.id, from), to: eventKey(op.id, first) });
    return { ...head, events: [first, next] };
  }

  async #isAged(id: string, seq: number): Promise<boolean> {
    const at = await timeOf(this.work.state, eventKey(id, seq));
    return at === undefined || at < this.wall - this.work.limits.eventAgeMs;
  }

  /** Only the tombstone counts from here on; what lies behind it waits to be swept. */
  #terminate(id: string, head: Head): Head {
    this.states.delete(id);
    this.#put(endedKey(id, this.wall), NOTHING);
    return { ...head, status: 'terminated', chunks: 0, alarms: 0, waiting: 0 };
  }

  async #sweep({ id, at }: SweepOp): Promise<void> {
    const { state, limits } = this.work;
    const head = this.#head(id);
    const most = SWEPT_AT_ONCE - this.#swept;
    if (head.status !== 'terminated' || most <= 0 || (await state.get(endedKey(id, at))) === undefined) return;
    const swept = await sweep(state, id, head, this.wall, limits, most);
    this.#swept += swept.taken;
    this.#put(endedKey(id, at), undefined);
    for (const removal of swept.removals) {
      this.changes.push('key' in removal ? { ...removal, value: undefined } : removal);
    }
    if (swept.next !== undefined) this.#put(endedKey(id, swept.next), NOTHING);
    this.heads.set(id, swept.head);
  }

  #post(op: PostOp): void {
    const head = this.#head(op.to);
    if (head.status === 'terminated') {
      this.#refuse(op);
      return;
    }
    if (head.waiting >= this.work.limits.mailboxMessages) throw mailboxFull(op.to, head.waiting);
    const { kind, name, data, from, requestId } = op;
    const n = this.posts.length;
    this.posts.push({ to: op.to, n });
    this.#putAll(encode({ kind, name, data, from, requestId }), (chunk) => messageKey(op.to, this.ts, n, chunk));
    this.heads.set(op.to, { ...head, waiting: head.waiting + 1 });
  }

  /** A caller from outside is told; a turn's mail to an agent that was stopped meanwhile is dropped, as all that waited there. */
  #refuse({ to, from }: PostOp): void {
    if (from === '') throw terminated(to);
    this.posts.push({ to, n: this.posts.length });
  }

  #spawn(op: SpawnOp): void {
    if (this.#find(op.id) !== undefined) return; // a rerun of the turn that began it
    this.heads.set(op.id, freshHead(op.type, this.wall, 'starting'));
    this.#post({ op: 'post', to: op.id, from: op.from, kind: 'init', name: 'onInitialize' });
  }

  async #dead(op: DeadOp): Promise<void> {
    if (this.#head(op.id).status === 'terminated') return;
    let head = this.#consume(op.id, this.#head(op.id), op.consumed);
    head = await this.#fire(op.id, head, op.fired);
    let [first, next] = head.letters;
    const { name, data, from, attempts, error } = op;
    const seq = next++;
    this.#putAll(encode({ at: this.wall, name, data, from, attempts, error } satisfies StoredLetter), (chunk) =>
      deadKey(op.id, seq, chunk),
    );
    let dead = head.dead + 1;
    if (next - first > this.work.limits.deadLetters) {
      this.changes.push({ from: deadKey(op.id, first), to: deadKey(op.id, ++first) });
      dead = Math.min(dead, next - first);
    }
    this.heads.set(op.id, { ...head, letters: [first, next], dead });
  }
}

function freshHead(type: string, wall: number, status: Head['status']): Head {
  return {
    type,
    status,
    startedAt: wall,
    turns: 0,
    version: 1,
    chunks: 0,
    events: [1, 1],
    letters: [1, 1],
    dead: 0,
    waiting: 0,
    alarms: 0,
  };
}

export function unknownAgent(id: string): GraphsteadError {
  return new GraphsteadError('AGENT_UNKNOWN', `there is no agent "${id}"`, {
    fix: 'give the id that starting it returned; an agent started in a turn exists once that turn is over',
    details: { agentId: id },
  });
}

export function terminated(id: string): GraphsteadError {
  return new GraphsteadError('AGENT_TERMINATED', `agent "${id}" was stopped and is no longer available`, {
    details: { agentId: id },
  });
}

export function mailboxFull(id: string, waiting: number): GraphsteadError {
  return new GraphsteadError('MAILBOX_FULL', `the mailbox of agent "${id}" is full: ${waiting} messages wait`, {
    fix: 'send more slowly, or raise limits.mailboxMessages',
    details: { agentId: id },
  });
}
