// Events that the service tells of an agent. They have names of their own: an app's event of one would be taken for it.

/** Status changes; only subscriptions that name it see them. */
export const STATUS_EVENT = 'agentStatusUpdated';
/** Told where events are missing: they were no longer kept, or the store is another one than that of the reader's id. */
export const GAP_EVENT = 'agentEventGap';

export function isOwnEvent(name: string): boolean {
  return name === STATUS_EVENT || name === GAP_EVENT;
}
