import type { Limits } from '../base/index.js';

/** What a start tells of limits of an embedded store that do not go together. */
export function limitWarnings({ readers, transactions }: Pick<Limits, 'readers' | 'transactions'>): readonly string[] {
  if (readers >= transactions) return [];
  return [
    `limits.readers is ${readers}, limits.transactions ${transactions}: open transactions may hold every snapshot that there is, and all else is refused meanwhile (raise the first or lower the second)`,
  ];
}
