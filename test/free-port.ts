import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** below what systems give to whoever asks for any port */
const [FIRST, END] = [20_000, 32_000];

/**
 * A port for a server that is started later, or started again. Nobody else comes by it meanwhile, as the next test would by
 * one that the system gave and took back.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, END);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer().once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
