import type { UidList } from '../../graph/index.js';
import type { Filter } from '../syntax/index.js';
import { callFilter } from './call/index.js';
import type { Execution } from './execution.js';
import { subtract, union } from './uid-set.js';

/** Those of the candidates that pass, ascending. What cannot change the answer any more is not asked. */
export async function applyFilter(filter: Filter, candidates: UidList, execution: Execution): Promise<UidList> {
  switch (filter.kind) {
    case 'call':
      return await callFilter(filter.call, candidates, execution);
    case 'not':
      return subtract(candidates, await applyFilter(filter.child, candidates, execution));
    case 'and': {
      let left = candidates;
      for (const child of cheapFirst(filter.children)) left = await applyFilter(child, left, execution);
      return left;
    }
    case 'or': {
      const found: UidList[] = [];
      let open = candidates;
      for (const child of cheapFirst(filter.children)) {
        const passed = await applyFilter(child, open, execution);
        found.push(passed);
        open = subtract(open, passed);
      }
      return union(found);
    }
  }
}

/** Calls that read nothing go first. */
function cheapFirst(filters: readonly Filter[]): readonly Filter[] {
  return [...filters].sort((a, b) => cost(a) - cost(b));
}

function cost(filter: Filter): number {
  if (filter.kind === 'not') return cost(filter.child);
  if (filter.kind !== 'call') return 2;
  const { name, subject } = filter.call;
  return name === 'uid' || subject?.kind === 'value' || subject?.kind === 'length' ? 0 : 1;
}
