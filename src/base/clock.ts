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
