import type { ServerResponse } from 'node:http';

/** Aborted when the client goes away before its answer is written, or when the service shuts down. */
export function responseSignal(response: ServerResponse, shutdown: AbortSignal): AbortSignal {
  const controller = new AbortController();
  const stop = () => controller.abort();
  if (shutdown.aborted) stop();
  shutdown.addEventListener('abort', stop, { once: true });
  response.once('close', () => {
    shutdown.removeEventListener('abort', stop);
    if (!response.writableFinished) stop();
  });
  return controller.signal;
}
