import type { Core } from './core.js';
import type { Draining } from './draining.js';
import type { RoomOptions } from './rooms.js';

/** What the admin API lets operators do with the process. */
export function operatorOf(
  draining: Draining,
  log: Core['log'],
  shutdown: (() => void) | undefined,
): RoomOptions['operator'] {
  let isStopping = false;
  return {
    drain(enable) {
      draining.isOn = enable;
      log.warn(enable ? 'draining: new requests are refused' : 'draining is over: requests are taken again');
    },
    refuse: () => draining.refuse(),
    shutdown:
      shutdown &&
      (() => {
        // a second signal would end the process at once
        if (isStopping) return;
        isStopping = true;
        // behind the answer; where that takes longer, it is under way, and waited for
        setImmediate(shutdown);
      }),
  };
}
