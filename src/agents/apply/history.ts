import { pastKey } from '../keys.js';
import type { TurnOp } from '../part.js';
import { encode, figureIn, type Head, headWith, type StoredPast } from '../stored.js';
import type { Draft } from './draft.js';
import { trim } from './trim.js';

const NONE = [1, 1, 0] as const;

/** Whether a turn keeps its state, or was kept before by a class that keeps fewer or none now. */
export function remembers({ state, history }: TurnOp, { past = NONE }: Head): boolean {
  return state !== undefined && (history !== undefined || past[0] < past[1]);
}

/** The state that a turn left is kept under a number of its own; the oldest go where there are too many, or too large ones. */
export async function remember(draft: Draft, { id, state = '', history }: TurnOp, head: Head): Promise<Head> {
  const { agentHistory, agentHistoryBytes } = draft.group.limits;
  const key = (seq: number, chunk = 0) => pastKey(id, seq, chunk);
  const [from, last, before] = head.past ?? NONE;
  const added = history === undefined ? 0 : Buffer.byteLength(state);
  if (history !== undefined) {
    const { kind, name } = history;
    const { turns: turn, version } = head;
    const past: StoredPast = { turn, bytes: added, at: draft.wall, kind, name, version, state };
    draft.putAll(encode(past), (chunk) => key(last, chunk));
  }
  const next = history === undefined ? last : last + 1;
  const keep = Math.min(history?.keep ?? 0, agentHistory);
  let bytes = before + added;
  const goes = (seq: number, chunk: Uint8Array | undefined): boolean => {
    if (next - seq <= keep && bytes <= agentHistoryBytes) return false;
    // a commit takes away about twice what it adds: of a class that keeps fewer now, two with each turn
    if (seq - from >= 2 && before + added - bytes >= 2 * added) return false;
    bytes -= figureIn(chunk, 'bytes') ?? 0;
    return true;
  };
  const first = await trim(draft, key, from, last, goes);
  return headWith(head, { past: [first, next, bytes] });
}
