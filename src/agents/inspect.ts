import type { Snapshot } from '../commit/index.js';
import type { AgentInfo, AgentInspection, HistoryPage, PastState, WaitingMessage } from './contract.js';
import {
  type MailboxEntry,
  readHistory,
  readKnownHead,
  readLetters,
  readMailbox,
  readState,
  toDeadLetter,
} from './reader.js';
import { alarmsOf } from './set-alarms.js';
import type { Head } from './stored.js';

const WAITING_SHOWN = { messages: 100, bytes: 8 * 1024 * 1024 };

const ALARMS_SHOWN = 100;

const LETTERS_SHOWN = 100;

/** Throws AGENT_UNKNOWN. */
export async function inspectAgent(
  snapshot: Snapshot,
  id: string,
  incarnation: string,
  shown: (head: Head) => AgentInfo,
): Promise<AgentInspection> {
  const head = await readKnownHead(snapshot, id);
  const state = await readState(snapshot, id, head.chunks);
  const { entries: waiting } = await readMailbox(snapshot, id, undefined, WAITING_SHOWN);
  const letters = await readLetters(snapshot, id, LETTERS_SHOWN);
  return {
    info: shown(head),
    ...(state === undefined ? {} : { state }),
    alarms: (await alarmsOf(snapshot, id)).slice(0, ALARMS_SHOWN),
    waiting: waiting.map(toWaiting),
    deadLetters: letters.map((letter) => toDeadLetter(id, letter)),
    beforeFirstEvent: `${incarnation}.0.0`,
  };
}

const STATES = 20;

/** Throws AGENT_UNKNOWN. */
export async function historyOf(
  snapshot: Snapshot,
  id: string,
  { limit: states = STATES, before }: HistoryPage,
  bytes: number,
): Promise<readonly PastState[]> {
  const head = await readKnownHead(snapshot, id);
  const stored = await readHistory(snapshot, id, head, before, { states, bytes });
  return stored.map(({ turn, at, kind, name, version, state }) => ({
    turn,
    at: new Date(at).toISOString(),
    kind,
    name,
    version,
    ...(state === '' ? {} : { state }),
  }));
}

function toWaiting({ name, data, from, attempts, notBefore, error }: MailboxEntry): WaitingMessage {
  return {
    name,
    ...(data === undefined ? {} : { data }),
    from,
    attempts,
    ...(notBefore > 0 ? { notBefore: new Date(notBefore).toISOString() } : {}),
    ...(error ? { error } : {}),
  };
}
