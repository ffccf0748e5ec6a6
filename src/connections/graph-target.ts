import type { ConnectionConfig } from './config.js';

export type GraphConfig = Extract<ConnectionConfig, { type: 'graph' | 'dgraph' }>;

/** Where a graph connection goes and what it shows there. */
export interface GraphTarget {
  /** host:port */
  readonly address: string;
  /** `encrypted` takes any certificate */
  readonly tls: 'none' | 'encrypted' | 'verified';
  /** sent with each call */
  readonly metadata: Readonly<Record<string, string>>;
  /** to sign in with, before the first call */
  readonly user?: string;
  readonly password?: string;
}

/** `dns` is the library's own */
const SCHEMES = new Set(['', 'http', 'https', 'dgraph', 'grpc', 'dns']);
const TLS = { disable: 'none', require: 'encrypted', 'verify-ca': 'verified' } as const;

/**
 * `host:port`, `https://host:port`, or the peer's `dgraph://user:password@host:port?sslmode=...&bearertoken=...&apikey=...`;
 * `key` stands beside any of them.
 */
export function graphTarget({ grpcTarget, connStr, connString, key }: GraphConfig): GraphTarget {
  const text = grpcTarget ?? connStr ?? connString ?? '';
  const [, scheme = '', rest = ''] = /^(?:([a-z][a-z0-9+.-]*):\/\/)?(.*)$/is.exec(text) ?? [];
  if (!SCHEMES.has(scheme.toLowerCase())) throw new Error(`${scheme}:// is no address of a graph: write host:port`);
  // as https, so that host and port are read and checked as in any address
  if (!URL.canParse(`https://${rest}`)) throw new Error('its address is none: write host:port');
  const { username, password, hostname, port, searchParams } = new URL(`https://${rest}`);
  const mode = searchParams.get('sslmode') ?? (scheme.toLowerCase() === 'https' ? 'verify-ca' : 'disable');
  if (!(mode in TLS)) throw new Error(`sslmode is one of ${Object.keys(TLS).join(', ')}`);
  const bearer = key ?? searchParams.get('bearertoken');
  const apiKey = searchParams.get('apikey');
  return {
    address: `${hostname}:${port === '' ? 443 : port}`,
    tls: TLS[mode as keyof typeof TLS],
    metadata: {
      ...(bearer ? { authorization: `Bearer ${bearer}` } : {}),
      ...(apiKey ? { authorization: apiKey } : {}),
    },
    ...(username ? { user: decodeURIComponent(username), password: decodeURIComponent(password) } : {}),
  };
}
