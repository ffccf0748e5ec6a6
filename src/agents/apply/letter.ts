import { deadKey } from '../keys.js';
import type { ReplayOp, DeadOp } from '../part.js';
import { noLetter } from '../refusal.js';
import { encode, headWith, pieces, type StoredLetter } from '../stored.js';
import { fire } from './alarm.js';
import type { Draft } from './draft.js';
import { consume } from './turn.js';

/** numbers of letters that one commit looks at for the oldest */
const LOOKED_AT = 256;

/** What failed for good is kept in the list of dead letters; the oldest goes where there are too many. */
export async function dead(draft: Draft, op: DeadOp): Promise<void> {
  const { id, kind, name, data, typed, from, attempts, error } = op;
  if (draft.head(id).status === 'terminated') return;
  let head = consume(draft, id, draft.head(id), op.consumed);
  head = await fire(draft, id, head, op.fired);
  let [first, next] = head.letters;
  const seq = next++;
  const letter: StoredLetter = { at: draft.wall, kind, name, data, typed, from, attempts, error };
  draft.putAll(encode(letter), (chunk) => deadKey(id, seq, chunk));
  let count = head.dead + 1;
  const last = Math.min(seq, first + LOOKED_AT);
  while (count > draft.group.limits.deadLetters && first < last) {
    // one that was replayed has left its number empty
    if ((await draft.group.state.get(deadKey(id, first))) !== undefined) count--;
    draft.changes.push({ from: deadKey(id, first), to: deadKey(id, ++first) });
  }
  draft.heads.set(id, headWith(head, { letters: [first, next], dead: count }));
}

/** A dead letter leaves its list. Throws NOT_FOUND where it has left already: of two replays at once, one delivers. */
export async function replay(draft: Draft, { id, seq, bytes }: ReplayOp): Promise<void> {
  const head = draft.head(id);
  if ((await draft.group.state.get(deadKey(id, seq))) === undefined) throw noLetter(id, String(seq));
  draft.heads.set(id, headWith(head, { dead: Math.max(0, head.dead - 1) }));
  for (let i = 0; i < pieces(bytes); i++) draft.put(deadKey(id, seq, i), undefined);
}
