import { GraphsteadError } from '../../base/index.js';
import { messageKey, retryKey } from '../keys.js';
import type { PostOp, SpawnOp } from '../part.js';
import { mailboxFull, terminated } from '../refusal.js';
import { encode, freshHead, headAgain, headWith, messageOf, type StoredRetry } from '../stored.js';
import type { Draft } from './draft.js';
import { beginsAgain } from './turn.js';

/** A message comes to rest in a mailbox. Throws MAILBOX_FULL, AGENT_UNKNOWN, AGENT_TERMINATED. */
export function post(draft: Draft, op: PostOp): void {
  const head = draft.head(op.to);
  if (head.status === 'terminated') {
    refuse(draft, op);
    return;
  }
  // one that cannot keep up can be stopped, from a turn too; and what it has begun goes on
  const mayWait = op.kind === 'stop' || op.begun !== undefined;
  if (head.waiting >= draft.group.limits.mailboxMessages && !mayWait) throw mailboxFull(op.to, head.waiting);
  const n = draft.posts++;
  draft.putAll(encode(messageOf(op)), (chunk) => messageKey(op.to, draft.ts, n, chunk));
  if (op.begun !== undefined)
    draft.put(retryKey(op.to, draft.ts, n), encode({ ...op.begun, notBefore: 0, error: '' } satisfies StoredRetry));
  draft.heads.set(op.to, headWith(head, { waiting: head.waiting + 1 }));
}

/** A caller from outside is told; a turn's mail to an agent that was stopped meanwhile is dropped, as all that waited there. */
function refuse(draft: Draft, { to, from }: PostOp): void {
  if (from === '') throw terminated(to);
  draft.posts++;
}

/**
 * An agent that a turn began: its first message is the one that initialises it. Throws TXN_ABORTED where the one of its key was
 * stopped behind the look of whoever starts it: what that left is to go first.
 */
export function spawn(draft: Draft, op: SpawnOp): void {
  const before = draft.find(op.id);
  if (before !== undefined && !beginsAgain(before, op)) {
    if (op.key !== undefined && before.status === 'terminated') {
      throw new GraphsteadError('TXN_ABORTED', `agent ${op.id} was stopped while it was to be started`, {
        fix: 'start it again: it begins anew once it has ended',
      });
    }
    // a rerun of the turn that began it, or its key is in use; those who count posts count this one too
    draft.posts++;
    return;
  }
  const head = before && headAgain(op, draft.wall, before);
  draft.heads.set(op.id, head ?? freshHead(op, draft.wall, 'starting'));
  post(draft, { op: 'post', to: op.id, from: op.from, kind: 'init', name: 'onInitialize' });
}
