import type { Key } from '../../commit/index.js';
import { isWhole } from '../stored.js';
import type { Draft } from './draft.js';

/**
 * Takes the oldest of a numbered list away, as long as `goes` says so of its number and its first chunk. Gives the number of
 * the first that stays.
 */
export async function trim(
  draft: Draft,
  key: (seq: number) => Key,
  from: number,
  until: number,
  goes: (seq: number, bytes: Uint8Array | undefined) => boolean,
): Promise<number> {
  for (let seq = from; seq < until; seq++) {
    const bytes = await draft.group.state.get(key(seq));
    if (!goes(seq, bytes)) return seq;
    // A group compares each range with all that it puts: one for each of its turns would take longer than the turns.
    if (bytes !== undefined && isWhole(bytes)) draft.put(key(seq), undefined);
    else draft.changes.push({ from: key(seq), to: key(seq + 1) });
  }
  return until;
}
