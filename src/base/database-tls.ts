import { codeOf } from './errors.js';

/**
 * The address for the library. To it `prefer`, `require` and `verify-ca` are other names of `verify-full`, and each costs a warning in
 * the log that they will mean less one day: not here.
 */
export function verifying(address: string): string {
  if (/[?&]uselibpqcompat=true/.test(address)) return address;
  return address.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/, '$1verify-full');
}

/** What Node.js says of certificates that it does not trust. */
const NOT_TRUSTED = /SELF_SIGNED|^UNABLE_TO_|^ERR_TLS_CERT|^CERT_/;

/** What the address of a database has to say of TLS, where a connection failed by that. */
export function tlsAdvice(thrown: unknown): string | undefined {
  const reason = thrown instanceof Error ? thrown.message : '';
  if (/does not support SSL/.test(reason)) return 'leave sslmode out of the address: the server speaks no TLS';
  if (/no encryption|SSL off/.test(reason)) return 'add ?sslmode=require to the address: the server speaks TLS alone';
  const { syscall, path } = Object(thrown) as { readonly syscall?: unknown; readonly path?: unknown };
  // no other file is read to connect
  if (syscall === 'open') return `correct the path ${path} in the address, of a file that may be read`;
  if (!NOT_TRUSTED.test(codeOf(thrown) ?? '')) return undefined;
  return 'name the authority of its certificate in the address, sslmode=require&sslrootcert=/path/ca.pem; sslmode=no-verify trusts whoever answers';
}
