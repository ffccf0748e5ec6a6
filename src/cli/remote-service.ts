import { ERROR_STATUS, type ErrorCode, GraphsteadError, GraphsteadErrors, type WireError } from '../base/index.js';

/** A running service over HTTP, as commands that take its address use it. */
export interface RemoteService {
  /** POST; the JSON of the answer. Throws what the service answered, and CONNECTION_FAILED when it does not. */
  send(path: string, body: string, contentType: string): Promise<Record<string, unknown>>;
  /** GET; the answer as it comes. Throws likewise. */
  get(path: string): Promise<Response>;
}

/** @param key of GRAPHSTEAD_API_KEY, for a service on another machine */
export function remoteService(url: string, key: string | undefined): RemoteService {
  const base = addressOf(url);
  const authorization: Record<string, string> = key ? { authorization: `Bearer ${key}` } : {};

  async function call(path: string, init: RequestInit): Promise<Response> {
    try {
      return await fetch(new URL(path, base), init);
    } catch (error) {
      const reason = (error as { cause?: Error }).cause?.message ?? (error as Error).message;
      throw new GraphsteadError('CONNECTION_FAILED', `${url} does not answer: ${reason}`, {
        fix: /certificate/i.test(reason)
          ? 'name the file of its certificate in NODE_EXTRA_CA_CERTS, and use an address that the certificate names'
          : 'start the service, or correct the address: https:// where it has a certificate',
        cause: error,
      });
    }
  }

  /** What the service answered, with what to do about it here. */
  function told(wire: WireError, status: number): GraphsteadError {
    const error = fromWire(wire, status);
    if (error.code !== 'UNAUTHENTICATED') return error;
    const message = key ? `${url} does not know the key in GRAPHSTEAD_API_KEY` : `${url} needs an API key`;
    return new GraphsteadError(error.code, message, {
      fix: 'set GRAPHSTEAD_API_KEY to one of its GRAPHSTEAD_API_KEYS',
    });
  }

  return {
    async send(path, body, contentType) {
      const headers = { 'content-type': contentType, ...authorization };
      const response = await call(path, { method: 'POST', headers, body });
      const answer = await jsonOf(response, url);
      const errors = ((answer['errors'] ?? []) as readonly WireError[]).map((one) => told(one, response.status));
      if (errors.length > 1) throw new GraphsteadErrors(errors);
      if (errors.length === 1) throw errors[0];
      return answer;
    },
    async get(path) {
      const response = await call(path, { headers: authorization });
      if (response.ok) return response;
      const { errors } = (await jsonOf(response, url)) as { errors?: readonly WireError[] };
      throw told(errors?.[0] ?? { message: `answered ${response.status}`, extensions: {} }, response.status);
    },
  };
}

function addressOf(url: string): URL {
  try {
    return new URL(/^https?:\/\//.test(url) ? url : `http://${url}`);
  } catch {
    throw new GraphsteadError('INVALID_REQUEST', `"${url}" is no address`, { fix: 'write it as http://host:8686' });
  }
}

async function jsonOf(response: Response, url: string): Promise<Record<string, unknown>> {
  const text = await response.text();
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    throw new GraphsteadError('REMOTE_REPLY', `${url} answered ${response.status} with something that is no JSON`, {
      fix: 'check that the address is that of a graphstead service',
    });
  }
}

/** Other services that speak the same language tell none. */
const FIX_OF_SERVICE = 'correct what is sent by what the service says of it, or look at its log';

export function fromWire({ message, locations, extensions }: WireError, status: number): GraphsteadError {
  const { code, fix = FIX_OF_SERVICE } = extensions as { code?: string; fix?: string };
  const known = code !== undefined && code in ERROR_STATUS ? (code as ErrorCode) : byStatus(status);
  return new GraphsteadError(known, message, { fix, position: locations?.[0] });
}

function byStatus(status: number): ErrorCode {
  return status === 401 ? 'UNAUTHENTICATED' : status === 409 ? 'TXN_ABORTED' : 'INVALID_REQUEST';
}
