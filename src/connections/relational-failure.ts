import { GraphsteadError, type Hide, tlsAdvice } from '../base/index.js';
import { callEnded, MAYBE_DONE, TOO_SLOW, tooLarge } from './told.js';

export function callStopped(name: string, reason: unknown, hide: Hide): GraphsteadError {
  return new GraphsteadError('CONNECTION_FAILED', `connection "${name}": ${hide(callEnded(reason))}`, {
    fix: MAYBE_DONE,
    details: { connection: name },
  });
}

export function cut(name: string, bytes: number): GraphsteadError {
  return new GraphsteadError(
    'CONNECTION_FAILED',
    `connection "${name}": the answer to a statement is ${tooLarge(bytes)}`,
    {
      fix: 'ask for fewer rows at a time, with LIMIT; what the statement changed may be done all the same',
      details: { connection: name },
    },
  );
}

export function ended(name: string): GraphsteadError {
  return new GraphsteadError('CONNECTION_FAILED', `connection "${name}": the transaction has ended`, {
    fix: 'await each statement inside of transaction(async (statements) => ...)',
    details: { connection: name },
  });
}

export function undone(name: string): GraphsteadError {
  const message = `connection "${name}": rolled back: a statement of the transaction had failed`;
  return new GraphsteadError('CONNECTION_FAILED', message, {
    fix: 'let what the statement throws leave transaction(async (statements) => ...); what may fail goes into one of its own, or behind a SAVEPOINT',
    details: { connection: name },
  });
}

export function openTransaction(name: string): GraphsteadError {
  const message = `connection "${name}": the statement left a transaction open, which is rolled back`;
  return new GraphsteadError('CONNECTION_FAILED', message, {
    fix: 'give what belongs together to transaction(async (statements) => ...): each statement may run on a connection of its own',
    details: { connection: name },
  });
}

/** The server's reason without the address, which holds the password. */
export function failure(name: string, error: unknown, hide: Hide): GraphsteadError {
  const { message, code, errors } = error as Error & { code?: string; errors?: Error[] };
  const reason = message || errors?.[0]?.message || code || 'the server did not answer';
  const fix = adviceFor(error, reason);
  return new GraphsteadError('CONNECTION_FAILED', `connection "${name}": ${hide(reason)}`, {
    fix,
    details: { connection: name, ...(isAnswer(error) && code ? { sqlState: code } : {}) },
  });
}

/** The server said so itself; else it could not be reached, was lost, or is silent. */
export function isAnswer(error: unknown): boolean {
  return (error as { severity?: unknown }).severity !== undefined;
}

/** SQLSTATE of a server that starts or stops */
const NOT_UP = '57P03';
/** a connection that its server ended */
const ENDED = /^57P0[12]$/;
/** a user, a password or a database that the server does not have */
const NOT_LET_IN = /^(28...|3D000)$/;
/** The server's own words name the place in the statement, or what the data forbids. */
const REFUSED = 'correct the statement or its parameters, by what the server says of them';

function adviceFor(error: unknown, reason: string): string {
  const { code = '', syscall } = error as { code?: string; syscall?: string };
  const tls = tlsAdvice(error);
  if (tls !== undefined) return tls;
  // the server's words, or those of the library where the server does not answer
  if (/timeout/i.test(reason)) return TOO_SLOW;
  const unreached = syscall === 'connect' || syscall === 'getaddrinfo' || code === NOT_UP;
  if (unreached) return 'check that the server runs and is reached from here; the next call connects anew';
  if (NOT_LET_IN.test(code)) return "correct the user, the password or the database in the connection's address";
  if (isAnswer(error) && !ENDED.test(code)) return REFUSED;
  return 'the next call connects anew; what was under way may have been done or not';
}

export function hideAddress(text: string, address: string): string {
  const password = /:\/\/[^:@/]*:([^/?#]*)@/.exec(address)?.[1];
  const secrets = [address, ...(password ? [password] : [])].filter((secret) => secret.length > 0);
  return secrets.reduce((shown, secret) => shown.replaceAll(secret, '[secret]'), text);
}
