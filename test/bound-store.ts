import type { Store } from '../src/store/index.js';

/** A store whose functions can be spread into another, to replace one of them. */
export function bound(store: Store): Store {
  return {
    epoch: store.epoch,
    incarnation: store.incarnation,
    readOnly: store.readOnly,
    snapshot: () => store.snapshot(),
    apply: (...args) => store.apply(...args),
    backup: (to) => store.backup(to),
    stats: () => store.stats(),
    close: () => store.close(),
  };
}
