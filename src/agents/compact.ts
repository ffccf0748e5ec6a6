import type { Effects, FromHost, ToHost, TurnTask } from './protocol.js';

// What is said once or more for each turn travels as a list, without names of fields: half the bytes, and half the time
// that JSON takes at both ends. Everything else travels as it is.

type Said = ToHost | FromHost;
type Turn = Extract<ToHost, { k: 'turn' }>;
type Turned = Extract<FromHost, { k: 'turned' }>;

const TAG = { turn: 0, call: 1, reply: 2, rpc: 3, turned: 4, called: 5 } as const;

/** A message as it travels; the message itself where it holds what is rare. */
export function compact(said: Said): unknown {
  switch (said.k) {
    case 'turn':
      return turnList(said);
    case 'call': {
      const { name, args, requestId, claims, stream, journal, trace } = said.task;
      const isRare = stream !== undefined || journal !== undefined || trace !== undefined;
      return isRare ? said : withValue([TAG.call, said.id, name, requestId, args], claims);
    }
    case 'reply':
      return said.ok ? withValue([TAG.reply, said.rpc], said.value) : said;
    case 'rpc':
      return [TAG.rpc, said.rpc, said.id, said.n, said.once, said.method, said.args];
    case 'turned':
      return turnedList(said);
    case 'called':
      return said.done === undefined ? withValue([TAG.called, said.id], said.value) : said;
    default:
      return said;
  }
}

/** A value may be null, and may be missing: it stands last. */
function withValue(list: unknown[], value: unknown): unknown[] {
  if (value !== undefined) list.push(value);
  return list;
}

function turnList(turn: Turn): unknown {
  const { kind, agentId, type, load, message, readOnly, calls, client, requestId, journal, trace } = turn.task;
  const isRare =
    load !== undefined || readOnly !== undefined || calls !== undefined || journal !== undefined || trace !== undefined;
  if (isRare || message === undefined) return turn;
  const { id, name, data, from, attempt, typed } = message;
  const list = [
    TAG.turn,
    turn.id,
    kind,
    agentId,
    type,
    requestId,
    id,
    name,
    from,
    attempt,
    data ?? null,
    typed ?? null,
  ];
  return withValue(list, client);
}

function turnedList(turned: Turned): unknown {
  const { state, version, events, sends, alarms, starts, stops } = turned.effects;
  const isRare = events !== undefined || sends !== undefined || alarms !== undefined;
  const isStateAlone = (state === undefined) === (version === undefined);
  if (isRare || !isStateAlone || starts !== undefined || stops !== undefined) return turned;
  return [TAG.turned, turned.id, turned.reply ?? null, state ?? null, version ?? null];
}

/** The message of what `compact` gave. */
export function expanded(travelled: unknown): Said {
  return Array.isArray(travelled) ? fromList(travelled) : (travelled as Said);
}

type Args = readonly unknown[];

// biome-ignore lint/suspicious/noExplicitAny: the other end is this program too
function fromList(list: readonly any[]): Said {
  switch (list[0] as (typeof TAG)[keyof typeof TAG]) {
    case TAG.turn:
      return turnOf(list);
    case TAG.call: {
      const [, id, name, requestId, args, claims] = list;
      return { k: 'call', id, task: { name, args: args as Args, requestId, claims } };
    }
    case TAG.reply:
      return { k: 'reply', rpc: list[1], ok: true, value: list[2] };
    case TAG.rpc: {
      const [, rpc, id, n, once, method, args] = list;
      return { k: 'rpc', rpc, id, n, once, method, args: args as Args };
    }
    case TAG.turned: {
      const effects: Effects = list[3] === null ? {} : { state: list[3], version: list[4] };
      return { k: 'turned', id: list[1], reply: list[2] ?? undefined, effects };
    }
    case TAG.called:
      return { k: 'called', id: list[1], value: list[2] };
  }
}

// biome-ignore lint/suspicious/noExplicitAny: see fromList
function turnOf(list: readonly any[]): Turn {
  const task: TurnTask = {
    kind: list[2],
    agentId: list[3],
    type: list[4],
    requestId: list[5],
    client: list[12],
    message: {
      id: list[6],
      name: list[7],
      from: list[8],
      attempt: list[9],
      data: list[10] ?? undefined,
      typed: list[11] ?? undefined,
    },
  };
  return { k: 'turn', id: list[1], task };
}
