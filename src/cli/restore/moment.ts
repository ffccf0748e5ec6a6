import { GraphsteadError } from '../../base/index.js';
import type { CommitRecord } from '../../commit/index.js';

/** Up to where commits are taken in: a moment, or a commit. */
export interface Moment {
  /** as it was given */
  readonly text: string;
  /** the life of the store that an id of /changes belongs to */
  readonly incarnation?: string;
  readonly commitTs: number;
  readonly wall: number;
}

const ID = /^([0-9a-f]{16})\.(\d+)\.\d+$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/;

/** @param text an id of /changes, or a time with its zone. Throws INVALID_VALUE */
export function momentOf(text: string): Moment {
  const [, incarnation, commitTs] = ID.exec(text) ?? [];
  if (incarnation !== undefined) {
    return { text, incarnation, commitTs: Number(commitTs), wall: Number.POSITIVE_INFINITY };
  }
  const wall = TIME.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(wall)) return { text, commitTs: Number.POSITIVE_INFINITY, wall };
  throw new GraphsteadError('INVALID_VALUE', `"${text}" is no moment`, {
    fix: 'write a time with its zone, as 2026-01-31T09:15:00Z, or the id of the last commit in /changes that is to stay',
  });
}

/** Whether a commit is still to be taken in. */
export function isWithin({ commitTs, wall }: Moment, record: Pick<CommitRecord, 'commitTs' | 'wall'>): boolean {
  return record.commitTs <= commitTs && record.wall <= wall;
}
