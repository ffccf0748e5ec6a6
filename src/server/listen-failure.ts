import { GraphsteadError } from '../base/index.js';

/** What the system says of an address that this machine does not have. */
const NO_ADDRESS = new Set(['ENOTFOUND', 'EADDRNOTAVAIL', 'EAI_AGAIN', 'EINVAL']);

/** CONFIG for a port or an address that cannot be listened on. @param flag the option that takes another one */
export function listenFailure(
  protocol: string,
  { host, port, flag }: { host: string; port: number; flag: string },
  cause: unknown,
): GraphsteadError {
  const { code = '', message } = cause as NodeJS.ErrnoException;
  if (NO_ADDRESS.has(code)) {
    return new GraphsteadError('CONFIG', `"${host}" is no address of this machine: ${message}`, {
      fix: '--host takes one, such as 127.0.0.1, or 0.0.0.0 for all',
      cause,
    });
  }
  const reason = code === 'EADDRINUSE' ? 'another process holds it' : message;
  return new GraphsteadError('CONFIG', `the ${protocol} port ${port} cannot be used: ${reason}`, {
    fix: `${flag} takes another port; 0 takes any free one`,
    cause,
  });
}
