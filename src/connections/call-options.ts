/** What a caller may say of one call of a connection. */
export interface CallOptions {
  /** ends the call where it aborts, on the other side too: it fails with CONNECTION_FAILED */
  readonly signal?: AbortSignal | undefined;
}

/** What `work` gives; where the signal aborts first, or has aborted, what `told` makes of its reason is thrown. */
export async function until<T>(
  signal: AbortSignal | undefined,
  told: (reason: unknown) => unknown,
  work: () => Promise<T>,
): Promise<T> {
  if (signal === undefined) return work();
  if (signal.aborted) throw told(signal.reason);
  let stop: () => void = () => undefined;
  const ended = new Promise<never>((_, reject) => {
    stop = () => reject(told(signal.reason));
    signal.addEventListener('abort', stop);
  });
  try {
    return await Promise.race([work(), ended]);
  } finally {
    // a signal may live longer than the many calls it is handed to
    signal.removeEventListener('abort', stop);
  }
}
