import { assert, BOUNDS, type Histogram } from '../base/index.js';

/** One value of a metric, under its labels. */
export interface Value {
  /** of a histogram's parts */
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

export type FigureType = 'counter' | 'gauge' | 'histogram';

/** One metric as /metrics and its reference tell it. */
interface Figure {
  readonly type: FigureType;
  readonly help: string;
}

/** It only grows, from 0 at the start of the service; its name ends in `_total`. */
const counter = (help: string): Figure => ({ type: 'counter', help });
/** What is so now. */
const gauge = (help: string): Figure => ({ type: 'gauge', help });

/** How long it took, in seconds; its name says so. */
const histogram = (help: string): Figure => ({ type: 'histogram', help });

/** What rooms tell of themselves, by room and by their own names for it. Bytes and seconds stand in the names. */
const ROOMS = {
  app: {
    agents_in_memory: gauge('agents that are loaded in a host process'),
    turns_running: gauge('turns of agents that run'),
    turns: counter('turns of agents that ended'),
    turn_seconds: histogram('time of a turn of an agent, from its start to its commit on disk'),
    turn_failures: counter('turns of agents that ended with an error'),
    mailbox_waiting: gauge('messages and alarms that wait for their turn, of agents in memory'),
    messages_posted: counter('messages that came to rest in a mailbox'),
    message_retries: counter('failed tries of messages and alarms that are made again'),
    dead_letters: counter('messages and alarms that failed for good'),
    events_published: counter('events of agents that were stored'),
    event_subscribers: gauge('open subscriptions to events of agents'),
    hosts: gauge('host processes, spare ones included'),
    host_tasks: gauge('turns and function calls that host processes work on'),
    host_kills: counter(
      'host processes that ended although they were needed: app code hung, crashed, or used too much memory',
    ),
  },
  store: {
    entries: gauge('keys in the store'),
    treeDepth: gauge('levels of the B+ tree on disk'),
    leafPages: gauge('leaf pages of the tree'),
    mapBytes: gauge('address space that the store has reserved; no disk is used for it'),
    fileBytes: gauge('size of data.mdb as far as it is in use'),
    readers: gauge('snapshots that are open'),
    heldBatches: gauge(
      'batches since the oldest version that any process on the data directory reads, one that copies or only reads among them: their pages are not used again, so the file grows',
    ),
    batches: counter('batches written'),
    batchBytes: counter('bytes of keys and values in those batches'),
    sweepFailures: counter('failed tries to take old versions of entries out of the database that holds the store'),
  },
  commit: {
    commits: counter('transactions committed'),
    seconds: histogram('time of a transaction from its commit being asked for to its being on disk'),
    groups: counter('groups they were written in: one flush of the disk each'),
    conflicts: counter('transactions aborted because another one committed first'),
    refusals: counter('transactions refused for another reason, a unique value among them'),
    failures: counter('groups that could not be written'),
    lastCommitTs: gauge('timestamp of the newest commit'),
    oracleKeys: gauge('conflict keys that are remembered'),
    waiting: gauge('transactions that wait for their group'),
    recordBytes: gauge('bytes of the commit records that GET /changes reads'),
  },
} as const satisfies Record<string, Record<string, Figure>>;

export type Room = keyof typeof ROOMS;

/** Those that are measured here, or have labels. */
export const OWN = {
  graphstead_http_requests_total: counter(
    'requests answered, by route, method and status; operations of WebSockets have the method WS',
  ),
  graphstead_http_request_seconds: histogram('time from the request to its answer, by route'),
  graphstead_connection_calls_total: counter('calls of connections, by connection and outcome (ok, failed)'),
  graphstead_connection_call_seconds_total: counter('time those calls took, by connection'),
  graphstead_model_calls_total: counter('calls of models, by model and outcome (ok, failed)'),
  graphstead_model_call_seconds_total: counter('time those calls took, by model'),
  graphstead_model_tokens_total: counter('tokens of models, by model and direction (input, output)'),
  graphstead_model_cost_total: counter(
    'cost of models that have prices in app.json, by model, in the currency of the prices',
  ),
  graphstead_process_resident_bytes: gauge('memory of the main process; host processes of an app come on top'),
  graphstead_process_cpu_seconds_total: counter('processor time of the main process'),
  graphstead_process_start_time_seconds: gauge('when the service started, in seconds since 1970'),
  graphstead_build_info: gauge('1, with the version of the service and of Node'),
} as const satisfies Record<string, Figure>;

export type OwnName = keyof typeof OWN;

/** Every metric by its name. */
export const FIGURES: Readonly<Record<string, Figure>> = {
  ...OWN,
  ...Object.fromEntries(
    Object.entries(ROOMS).flatMap(([room, figures]: [string, Record<string, Figure>]) =>
      Object.entries(figures).map(([name, figure]) => [metricName(room, name, figure), figure]),
    ),
  ),
};

/** The metric of a room's figure; whoever adds a figure to a room says here what it means. */
export function figureOf(room: Room, name: string): Figure & { readonly name: string } {
  const figure: Figure | undefined = (ROOMS[room] as Readonly<Record<string, Figure>>)[name];
  assert(figure !== undefined, `figures.ts does not say what "${name}" of ${room} means`);
  return { ...figure, name: metricName(room, name, figure) };
}

/** `lastCommitTs` of room `commit` -> `graphstead_commit_last_commit_ts` */
function metricName(room: string, name: string, { type }: Figure): string {
  const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return `graphstead_${room}_${snake}${type === 'counter' ? '_total' : ''}`;
}

/** The parts of a histogram as the exposition format has them. */
export function valuesOf(name: string, { buckets, sum }: Histogram, labels: Value['labels'] = {}): Value[] {
  let count = 0;
  const within = buckets.map((inside, i): Value => {
    count += inside;
    return { metricName: `${name}_bucket`, labels: { le: BOUNDS[i] ?? '+Inf', ...labels }, value: count };
  });
  return [
    ...within,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ];
}
