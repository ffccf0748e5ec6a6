import type { Limits } from '../../base/index.js';
import type { GroupState, Key } from '../../commit/index.js';
import { unknownAgent } from '../refusal.js';
import { type Head, split } from '../stored.js';

/** The bounds that commits of agents keep. */
export type AgentLimits = Pick<
  Limits,
  | 'agentHistory'
  | 'agentHistoryBytes'
  | 'eventsPerAgent'
  | 'eventAgeMs'
  | 'mailboxMessages'
  | 'deadLetters'
  | 'alarmsPerAgent'
  | 'alarmEveryMs'
>;

type Change = { readonly key: Key; readonly value: Uint8Array | undefined } | { readonly from: Key; readonly to: Key };

/** The group that a draft may become part of. */
interface Group {
  readonly state: GroupState;
  readonly limits: AgentLimits;
  readonly heads: ReadonlyMap<string, Head | undefined>;
}

/** One part on its way into the group: it can still be refused whole. */
export class Draft {
  readonly heads = new Map<string, Head>();
  readonly states = new Map<string, string>();
  readonly changes: Change[] = [];
  /** messages posted so far, over all its agents */
  posts = 0;
  /** events published so far, over all its agents */
  events = 0;
  /** keys of stopped agents that were swept so far */
  swept = 0;

  constructor(
    readonly group: Group,
    readonly ts: number,
    readonly wall: number,
  ) {}

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
}
