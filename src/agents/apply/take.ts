import type { MaybePromise } from '../../base/index.js';
import { endedKey } from '../keys.js';
import type { AgentOp, SweepOp } from '../part.js';
import { NOTHING } from '../stored.js';
import { hold, retry } from './alarm.js';
import type { Draft } from './draft.js';
import { replay, dead } from './letter.js';
import { post, spawn } from './post.js';
import { SWEPT_AT_ONCE, sweep } from './remains.js';
import { turn } from './turn.js';

/** Takes ops in, in order. Most need nothing that is not here, and are done when this returns. */
export function takeAll(draft: Draft, ops: readonly AgentOp[], from = 0): MaybePromise<void> {
  for (let i = from; i < ops.length; i++) {
    const taken = take(draft, ops[i]);
    if (taken instanceof Promise) return taken.then(() => takeAll(draft, ops, i + 1));
  }
}

function take(draft: Draft, op: AgentOp): MaybePromise<void> {
  switch (op.op) {
    case 'turn':
      return turn(draft, op);
    case 'post':
      return post(draft, op);
    case 'spawn':
      return spawn(draft, op);
    case 'retry':
      return retry(draft, op);
    case 'hold':
    case 'release':
      return hold(draft, op);
    case 'sweep':
      return sweepOne(draft, op);
    case 'dead':
      return dead(draft, op);
    case 'replay':
      return replay(draft, op);
  }
}

async function sweepOne(draft: Draft, { id, at }: SweepOp): Promise<void> {
  const { state, limits } = draft.group;
  const head = draft.head(id);
  const most = SWEPT_AT_ONCE - draft.swept;
  if (most <= 0 || (at !== undefined && (await state.get(endedKey(id, at))) === undefined)) return;
  if (at !== undefined) draft.put(endedKey(id, at), undefined);
  // one that has begun again by its key waits anew once it is stopped
  if (head.status !== 'terminated') return;
  const swept = await sweep(state, id, head, draft.wall, limits, most);
  draft.swept += swept.taken;
  for (const removal of swept.removals) {
    draft.changes.push('key' in removal ? { ...removal, value: undefined } : removal);
  }
  if (at !== undefined && swept.next !== undefined) draft.put(endedKey(id, swept.next), NOTHING);
  draft.heads.set(id, swept.head);
}
