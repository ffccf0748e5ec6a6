import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { FastifyBaseLogger } from 'fastify';
import { GraphsteadError, type Limits } from '../base/index.js';

/** Paths of PEM files: the certificate with the chain that leads to it, and its private key. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

interface Pair {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** What the files hold; the key goes to the servers alone. */
export interface Tls extends Pair {
  readonly context: SecureContext;
  /** until when the certificate is valid, as it says itself */
  readonly validTo: string;
}

/** The certificate of new connections; those that are open keep theirs. */
export interface ServedTls {
  readonly current: Tls;
  /** called with each that takes the place of the one before */
  onRenewed(listener: (tls: Tls) => void): void;
  close(): void;
}

/** milliseconds that a client has for its handshake, at most: as long as for the headers of a request */
const HANDSHAKE_MS = 60_000;

/** A client that never comes to the end of its handshake has sent no request either. @returns milliseconds */
export function handshakeMs({ requestMs }: Pick<Limits, 'requestMs'>): number {
  return Math.min(requestMs, HANDSHAKE_MS);
}

interface TlsOptions {
  readonly log: FastifyBaseLogger;
  /** milliseconds between two looks at the files */
  readonly checkMs: number;
}

/**
 * Reads the files, and again every `checkMs`: what renews them replaces files, links or whole folders, and no event tells all of that.
 * What cannot be used then is logged once, and the certificate before it is served on. Throws CONFIG as readTls does.
 */
export function openTls(files: TlsFiles, options: TlsOptions): ServedTls {
  const { log, checkMs } = options;
  const listeners: ((tls: Tls) => void)[] = [];
  let current = readTls(files);
  let told = '';
  const look = () => {
    try {
      const pair = readPair(files);
      if (pair.cert.equals(current.cert) && pair.key.equals(current.key)) return;
      current = checkPair(files, pair);
      for (const listener of listeners) listener(current);
      told = '';
      log.info({ validTo: current.validTo }, 'the certificate was renewed');
    } catch (error) {
      const { message } = error as Error;
      if (message !== told) log.error({ err: error }, 'the certificate was not renewed: the one before is served on');
      told = message;
    }
  };
  const timer = setInterval(look, checkMs).unref();
  return {
    get current() {
      return current;
    },
    onRenewed: (listener) => void listeners.push(listener),
    close: () => clearInterval(timer),
  };
}

/** Throws CONFIG when a file is missing, is no PEM, has ended, or when the two do not belong together. */
export function readTls(files: TlsFiles): Tls {
  return checkPair(files, readPair(files));
}

function readPair(files: TlsFiles): Pair {
  return { cert: read(files.cert, '--tls-cert'), key: read(files.key, '--tls-key') };
}

function checkPair(files: TlsFiles, pair: Pair): Tls {
  const context = contextOf(files, pair);
  const { validTo } = new X509Certificate(pair.cert);
  if (Date.parse(validTo) < Date.now()) {
    throw new GraphsteadError('CONFIG', `the certificate ${files.cert} ended on ${validTo}`, { fix: 'renew it' });
  }
  return { ...pair, context, validTo };
}

function contextOf(files: TlsFiles, pair: Pair): SecureContext {
  try {
    return createSecureContext(pair);
  } catch (cause) {
    throw new GraphsteadError('CONFIG', `TLS cannot use ${files.cert} with ${files.key}: ${(cause as Error).message}`, {
      fix: 'give PEM files: --tls-cert the certificate and its chain, --tls-key its private key, without a passphrase',
      cause,
    });
  }
}

function read(path: string, flag: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw new GraphsteadError('CONFIG', `${flag}: ${path} cannot be read: ${(cause as Error).message}`, {
      fix: 'give the path of a PEM file that the user of the service may read',
      cause,
    });
  }
}
