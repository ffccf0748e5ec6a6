import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { GraphsteadError } from '../base/index.js';

/** Paths of PEM files: the certificate with the chain that leads to it, and its private key. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

/** What the files hold; the key goes to the servers alone. */
export interface Tls {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** Read once, at the start. Throws CONFIG when a file is missing, is no PEM, or when the two do not belong together. */
export function readTls(files: TlsFiles): Tls {
  const tls = { cert: read(files.cert, '--tls-cert'), key: read(files.key, '--tls-key') };
  try {
    createSecureContext(tls);
  } catch (cause) {
    throw new GraphsteadError('CONFIG', `TLS cannot use ${files.cert} with ${files.key}: ${(cause as Error).message}`, {
      fix: 'give PEM files: --tls-cert the certificate and its chain, --tls-key its private key, without a passphrase',
      cause,
    });
  }
  const { validTo } = new X509Certificate(tls.cert);
  if (Date.parse(validTo) < Date.now()) {
    throw new GraphsteadError('CONFIG', `the certificate ${files.cert} ended on ${validTo}`, { fix: 'renew it' });
  }
  return tls;
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
