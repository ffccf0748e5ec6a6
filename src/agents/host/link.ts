import type { FromHost } from '../protocol.js';

// One array of messages a tick: sending each on its own costs more than the turn it reports.
let queue: FromHost[] = [];

/** Puts a message on this tick's batch to the main process. */
export function tell(message: FromHost): void {
  if (queue.length === 0) setImmediate(flush);
  queue.push(message);
}

/** Sends what waits. */
export function flush(): void {
  const batch = queue;
  queue = [];
  if (batch.length === 0 || process.send === undefined || !process.connected) return;
  try {
    process.send(batch);
  } catch {
    for (const message of batch) sendAlone(message);
  }
}

/** One message of a batch that could not be copied: a result that holds a function, say, fails its own task only. */
function sendAlone(message: FromHost): void {
  try {
    process.send?.([message]);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const failure = { message: `the result cannot leave the process: ${reason}`, fix: 'return plain data' };
    if ('id' in message && message.id !== undefined) process.send?.([{ k: 'failed', id: message.id, error: failure }]);
  }
}
