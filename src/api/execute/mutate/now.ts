import type { DateTime } from '../../../values/index.js';
import type { Request } from '../request.js';

/** The time that `$now` stands for: one for the whole mutation. */
export function requestTime(request: Request): DateTime {
  const milliseconds = request.engine.clock.wall();
  const seconds = Math.floor(milliseconds / 1000);
  return { seconds, nanos: Math.round(milliseconds - seconds * 1000) * 1_000_000, offset: 0 };
}
