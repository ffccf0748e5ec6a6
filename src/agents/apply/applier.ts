import { type MaybePromise, Recent } from '../../base/index.js';
import type { Applier, GroupState, GroupWork } from '../../commit/index.js';
import { headKey, stateKey } from '../keys.js';
import { AGENTS, type AgentOp, type AgentPart, type AgentResult } from '../part.js';
import { decode, encode, type Head, split } from '../stored.js';
import { type AgentLimits, Draft } from './draft.js';
import { takeAll } from './take.js';

/** heads that are not read again for the next group: some megabytes */
const KNOWN_HEADS = 10_000;

/** How the agents write. Register it with the committer of one store, under its name: it remembers what it wrote there. */
export function agentsApplier(limits: AgentLimits): Applier<AgentPart, AgentResult> {
  const known = new Recent<Head>(KNOWN_HEADS);
  return { name: AGENTS, begin: (state) => new AgentWork(state, limits, known) };
}

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
    /** as the newest group that landed left them: reading and parsing one takes longer than all else that is done with it */
    readonly known: Recent<Head>,
  ) {}

  prepare(parts: readonly AgentPart[]): MaybePromise<void> {
    const unknown: string[] = [];
    for (const { ops } of parts) {
      for (const op of ops) {
        const id = agentOf(op);
        if (this.heads.has(id)) continue;
        const head = this.known.get(id);
        if (head === undefined) unknown.push(id);
        this.#found(id, head);
      }
    }
    if (unknown.length > 0) return this.#read(unknown);
  }

  async #read(ids: readonly string[]): Promise<void> {
    const found = await this.state.getMany(ids.map(headKey));
    ids.forEach((id, i) => {
      const bytes = found[i];
      if (bytes !== undefined) this.#found(id, decode<Head>(bytes));
    });
  }

  #found(id: string, head: Head | undefined): void {
    this.heads.set(id, head);
    this.#chunks.set(id, head?.chunks ?? 0);
  }

  apply(part: AgentPart, commitTs: number, wall: number): MaybePromise<AgentResult> {
    const draft = new Draft(this, commitTs, wall);
    const taken = takeAll(draft, part.ops);
    return taken instanceof Promise ? taken.then(() => this.#keep(draft)) : this.#keep(draft);
  }

  /** Nothing was refused: what was drafted becomes the group's. */
  #keep(draft: Draft): AgentResult {
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

  landed(): void {
    for (const id of this.#changed) {
      const head = this.heads.get(id);
      if (head !== undefined) this.known.set(id, head);
    }
  }

  /** Whatever the store holds now is read again. */
  failed(): void {
    if (this.#changed.size > 0) this.known.clear();
  }
}

function agentOf(op: AgentOp): string {
  return op.op === 'post' ? op.to : op.id;
}
