import { type MaybePromise, Recent } from '../../base/index.js';
import type { Applier, GroupState, GroupWork } from '../../commit/index.js';
import { headKey, stateKey } from '../keys.js';
import { AGENTS, type AgentOp, type AgentPart } from '../part.js';
import { chunksBeside, decodeAgent, encodeAgent, fitsInEntry, type Head, type StoredAgent, split } from '../stored.js';
import { type AgentLimits, Draft } from './draft.js';
import { takeAll } from './take.js';

/** agents that are not read again for the next group: some megabytes */
const KNOWN_AGENTS = 10_000;

/** How the agents write. Register it with the committer of one store, under its name: it remembers what it wrote there. */
export function agentsApplier(limits: AgentLimits): Applier<AgentPart, void> {
  const known = new Recent<StoredAgent>(KNOWN_AGENTS);
  return { name: AGENTS, begin: (state) => new AgentWork(state, limits, known) };
}

/** One group's worth of agents: heads and states are merged here and written once. */
class AgentWork implements GroupWork<AgentPart, void> {
  readonly heads = new Map<string, Head | undefined>();
  readonly #changed = new Set<string>();
  readonly #states = new Map<string, string>();
  /** as the store holds them now */
  readonly #before = new Map<string, StoredAgent>();
  readonly #written = new Map<string, StoredAgent>();

  constructor(
    readonly state: GroupState,
    readonly limits: AgentLimits,
    /** as the newest group that landed left them: reading and parsing one takes longer than all else that is done with it */
    readonly known: Recent<StoredAgent>,
  ) {}

  prepare(parts: readonly AgentPart[]): MaybePromise<void> {
    const unknown: string[] = [];
    for (const { ops } of parts) {
      for (const op of ops) {
        const id = idOf(op);
        if (this.heads.has(id)) continue;
        const agent = this.known.get(id);
        if (agent === undefined) unknown.push(id);
        this.#found(id, agent);
      }
    }
    if (unknown.length > 0) return this.#read(unknown);
  }

  async #read(ids: readonly string[]): Promise<void> {
    const found = await this.state.getMany(ids.map(headKey));
    ids.forEach((id, i) => {
      const bytes = found[i];
      if (bytes !== undefined) this.#found(id, decodeAgent(bytes));
    });
  }

  #found(id: string, agent: StoredAgent | undefined): void {
    this.heads.set(id, agent?.head);
    if (agent !== undefined) this.#before.set(id, agent);
  }

  apply(part: AgentPart, commitTs: number, wall: number): MaybePromise<void> {
    const draft = new Draft(this, commitTs, wall);
    const taken = takeAll(draft, part.ops);
    return taken instanceof Promise ? taken.then(() => this.#keep(draft)) : this.#keep(draft);
  }

  /** Nothing was refused: what was drafted becomes the group's. */
  #keep(draft: Draft): void {
    for (const [id, head] of draft.heads) {
      this.heads.set(id, head);
      this.#changed.add(id);
    }
    for (const [id, state] of draft.states) this.#states.set(id, state);
    for (const change of draft.changes) {
      if ('key' in change) this.state.put(change.key, change.value);
      else this.state.deleteRange(change.from, change.to);
    }
  }

  flush(): void {
    for (const id of this.#changed) {
      const head = this.heads.get(id);
      if (head !== undefined) this.#write(id, head);
    }
  }

  #write(id: string, head: Head): void {
    const before = this.#before.get(id);
    const given = this.#states.get(id);
    const agent = agentOf(head, given ?? before?.state);
    this.#written.set(id, agent);
    this.state.put(headKey(id), encodeAgent(agent));
    const beside = chunksBeside(agent);
    if (given !== undefined && beside > 0) {
      for (const [i, chunk] of split(Buffer.from(given, 'utf8')).entries()) this.state.put(stateKey(id, i), chunk);
    }
    // what a stopped agent leaves is swept later, a bounded part at a time
    const stored = before === undefined || head.status === 'terminated' ? 0 : chunksBeside(before);
    for (let i = beside; i < stored; i++) this.state.put(stateKey(id, i), undefined);
  }

  landed(): void {
    for (const [id, agent] of this.#written) this.known.set(id, agent);
  }

  /** Whatever the store holds now is read again. */
  failed(): void {
    if (this.#changed.size > 0) this.known.clear();
  }
}

function idOf(op: AgentOp): string {
  return op.op === 'post' ? op.to : op.id;
}

function agentOf(head: Head, state: string | undefined): StoredAgent {
  return head.chunks === 1 && state !== undefined && fitsInEntry(state) ? { head, state } : { head };
}
