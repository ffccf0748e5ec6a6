/** Milliseconds that a timer of Node.js can wait at most, some 24 days: one that is to wait longer goes off at once. */
export const LONGEST_TIMER = 2 ** 31 - 1;

/** Time as the service sees it; tests put a fake one in its place. */
export interface Clock {
  /** wall time, milliseconds since 1970; may step */
  wall(): number;
  /** monotonic time in milliseconds; never steps; deadlines, leases and expiry use this */
  monotonic(): number;
}

export const systemClock: Clock = {
  wall: () => Date.now(),
  monotonic: () => performance.now(),
};
