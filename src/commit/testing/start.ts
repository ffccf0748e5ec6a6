import type { Committer } from '../contract.js';

/** A start timestamp alone, as of a transaction that reads nothing. */
export async function startTsOf(committer: Pick<Committer, 'begin'>): Promise<number> {
  const { startTs, snapshot } = await committer.begin();
  snapshot.release();
  return startTs;
}
