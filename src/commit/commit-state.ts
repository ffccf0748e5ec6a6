import { KeyWriter, type Put, type Snapshot } from '../store/index.js';
import { KIND } from './kind.js';

/** The committer's own durable figures: one value, written with every group. */
export interface CommitState {
  /** no timestamp up to this one may be issued after a restart */
  readonly lease: number;
  /** wall time of the last commit */
  readonly wall: number;
  /** records up to this timestamp are gone, or on their way: parts of one may be left */
  readonly trimmed: number;
  /** bytes of the records that stand, and of such parts */
  readonly recordBytes: number;
}

const FORMAT = 1;
const STATE_KEY = new KeyWriter('commit', Uint8Array.of(KIND.state)).key();
const FIELDS = ['lease', 'wall', 'trimmed', 'recordBytes'] as const;

const INITIAL_STATE: CommitState = { lease: 0, wall: 0, trimmed: 0, recordBytes: 0 };

export async function readState(snapshot: Snapshot): Promise<CommitState> {
  const bytes = await snapshot.get(STATE_KEY);
  if (bytes === undefined) return INITIAL_STATE;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const [lease, wall, trimmed, recordBytes] = FIELDS.map((_, i) => view.getFloat64(1 + i * 8));
  return { lease, wall, trimmed, recordBytes };
}

export function statePut(state: CommitState): Put {
  const value = Buffer.allocUnsafe(1 + FIELDS.length * 8);
  value[0] = FORMAT;
  for (let i = 0; i < FIELDS.length; i++) value.writeDoubleBE(state[FIELDS[i]], 1 + i * 8);
  return { key: STATE_KEY, value };
}
