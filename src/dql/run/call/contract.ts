import type { UidList } from '../../../graph/index.js';
import type { FunctionCall } from '../../syntax/index.js';
import type { Execution } from '../execution.js';

/**
 * One function of the language. Lists are distinct uids, ascending; candidates are never changed, and what `filter`
 * answers is a part of them. Callers await `Execution.checkpoint` before each call.
 */
export interface CallOperator {
  /** Every uid for which the call holds. Throws MISSING_INDEX where only an index could tell. */
  root(call: FunctionCall, execution: Execution): Promise<UidList>;
  /** Those of the candidates for which the call holds. */
  filter(call: FunctionCall, candidates: UidList, execution: Execution): Promise<UidList>;
}
