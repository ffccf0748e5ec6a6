import type { CallRecord, CallTotals } from './info.js';

export interface CallLog {
  add(record: CallRecord): void;
  /** newest first */
  recent(): readonly CallRecord[];
  /** by connection name */
  connections(): Readonly<Record<string, CallTotals>>;
  /** by the model's name */
  models(): Readonly<Record<string, CallTotals>>;
}

const NONE: CallTotals = { calls: 0, failed: 0, ms: 0, inputTokens: 0, outputTokens: 0 };

interface CallLogOptions {
  /** records that `recent` goes back */
  readonly kept?: number;
  /** whether records keep what was said to models */
  readonly messages?: boolean;
}

/** The last calls of connections and models, and sums since the start; in memory only. */
export function createCallLog({ kept = 200, messages = false }: CallLogOptions = {}): CallLog {
  const records: CallRecord[] = [];
  const connections = new Map<string, CallTotals>();
  const models = new Map<string, CallTotals>();
  return {
    add(record) {
      records.unshift(messages ? record : withoutMessages(record));
      if (records.length > kept) records.pop();
      // A model's call comes a second time, as the call of its connection: each counts where it belongs.
      const [totals, name] = record.kind === 'model' ? [models, record.what] : [connections, record.connection];
      totals.set(name, sum(totals.get(name) ?? NONE, record));
    },
    recent: () => [...records],
    connections: () => Object.fromEntries(connections),
    models: () => Object.fromEntries(models),
  };
}

function withoutMessages(record: CallRecord): CallRecord {
  if (record.model?.messages === undefined) return record;
  const { messages: _said, ...model } = record.model;
  return { ...record, model };
}

function sum(before: CallTotals, { ok, ms, model }: CallRecord): CallTotals {
  const cost = model?.cost === undefined ? before.cost : (before.cost ?? 0) + model.cost;
  return {
    calls: before.calls + 1,
    failed: before.failed + (ok ? 0 : 1),
    ms: before.ms + ms,
    inputTokens: before.inputTokens + (model?.inputTokens ?? 0),
    outputTokens: before.outputTokens + (model?.outputTokens ?? 0),
    ...(cost === undefined ? {} : { cost }),
  };
}
