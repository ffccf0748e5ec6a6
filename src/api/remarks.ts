import type { Remarks } from './contract.js';

/** Remarks as answers carry them under `extensions`; undefined where there are none. */
export function shownRemarks({ unreachable, unguarded }: Remarks): Partial<Remarks> | undefined {
  if (unreachable.length + unguarded.length === 0) return undefined;
  return { ...(unreachable.length > 0 ? { unreachable } : {}), ...(unguarded.length > 0 ? { unguarded } : {}) };
}
