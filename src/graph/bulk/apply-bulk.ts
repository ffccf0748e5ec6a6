import { GraphsteadError } from '../../base/index.js';
import { ABORTED } from '../../commit/index.js';
import type { GroupState } from '../../commit/index.js';
import type { Put } from '../../store/index.js';
import { sweep } from '../alter/apply-alter.js';
import type { JobTable } from '../alter/job.js';
import { META, metaKey, predicateRange } from '../key.js';
import type { SchemaDraft } from '../schema-draft.js';
import type { BulkPart, LoadedPredicate } from './part.js';

/** Finished keys by load and batch, handed from a load to the applier in the same process. */
export type BulkBatches = Map<string, readonly Put[]>;

/** The name of a batch in `BulkBatches`. */
export function batchName(load: string, batch: number): string {
  return `${load} ${batch}`;
}

/** Stored while a load is under way: the ids that it writes under. */
interface BulkMark {
  readonly first: number;
  readonly count: number;
}

function markOf(bytes: Uint8Array | undefined): BulkMark | undefined {
  return bytes && (JSON.parse(Buffer.from(bytes).toString()) as BulkMark);
}

interface Turn {
  readonly state: GroupState;
  readonly draft: SchemaDraft;
  readonly jobs: JobTable;
  readonly batches: BulkBatches;
}

/** What a part did. */
interface Applied {
  readonly result?: unknown;
  readonly highest: number;
  readonly names: readonly string[];
}

const NOTHING: Applied = { highest: 0, names: [] };

/** Merges one part of a load into a group. Throws TXN_ABORTED when the schema moved, EVENT_GAP on a replay. */
export async function applyBulk(part: BulkPart, turn: Turn): Promise<Applied> {
  const { state, draft, batches } = turn;
  switch (part.step) {
    case 'begin': {
      await abandon(turn);
      const first = draft.reserveIds(part.predicates);
      const mark: BulkMark = { first, count: part.predicates };
      state.put(metaKey(META.bulk), Buffer.from(JSON.stringify(mark)));
      return { ...NOTHING, result: first };
    }
    case 'write': {
      const puts = batches.get(batchName(part.load, part.batch));
      if (!puts) throw notKept();
      for (const { key, value } of puts) state.put(key, value);
      return NOTHING;
    }
    case 'finish':
      for (const one of part.loaded) checkStill(one, draft);
      for (const one of part.loaded) publish(one, turn);
      state.put(metaKey(META.bulk), undefined);
      return { highest: part.highest, names: part.loaded.map(({ record }) => record.name) };
    case 'abandon':
      await abandon(turn);
      return NOTHING;
  }
}

function notKept(): GraphsteadError {
  return new GraphsteadError('EVENT_GAP', 'what a bulk load wrote is not in the commit records', {
    fix: 'Begin with a backup that was made after the load.',
  });
}

function checkStill({ record, replaces }: LoadedPredicate, draft: SchemaDraft): void {
  const now = draft.predicate(record.name);
  if ((now?.id ?? 0) !== replaces) throw new GraphsteadError('TXN_ABORTED', ABORTED, { fix: 'Run the import again.' });
}

function publish({ record }: LoadedPredicate, { draft, jobs }: Turn): void {
  draft.update(record);
  const unbuilt = record.indexes.filter((index) => !index.ready).map((index) => index.kind);
  if (unbuilt.length === 0) return;
  jobs.add((id) => ({
    id,
    kind: 'build',
    predicate: record.id,
    indexes: unbuilt,
    reverse: false,
    count: false,
    toList: false,
    reversePass: false,
    cursor: 0,
    done: 0,
  }));
}

/** Keys under ids that no predicate has are swept away. */
async function abandon({ state, jobs }: Turn): Promise<void> {
  const mark = markOf(await state.get(metaKey(META.bulk)));
  if (!mark) return;
  const { start } = predicateRange(mark.first);
  const { end } = predicateRange(mark.first + mark.count - 1);
  sweep(jobs, mark.first, { start, end });
  state.put(metaKey(META.bulk), undefined);
}
