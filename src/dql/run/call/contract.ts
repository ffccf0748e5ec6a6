import type { MaybePromise } from '../../../base/index.js';
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
  /**
   * How many uids `root` gives at most, as far as a few keys tell: infinite where they do not tell, undefined where `root`
   * may refuse the call or reads more than what it gives. Reads no lists.
   */
  size?(call: FunctionCall, execution: Execution): MaybePromise<number | undefined>;
  /**
   * At least `count` of what `root` gives above a uid, or all that is left of it; undefined where nothing but reading all
   * of it tells. Throws as `root` does.
   */
  first?(
    call: FunctionCall,
    execution: Execution,
    page: { readonly after: number; readonly count: number },
  ): Promise<UidList | undefined>;
  /** Those of the candidates for which the call holds. */
  filter(call: FunctionCall, candidates: UidList, execution: Execution): Promise<UidList>;
}
