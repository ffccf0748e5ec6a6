// A service in this process on a free port, in memory, and the few calls that tests make of it over HTTP.
import { openService, type Service, type ServiceOptions } from '../src/server/index.js';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into JSON answers of every shape
  readonly body: any;
}

export interface TestService {
  readonly service: Service;
  readonly url: string;
  post(path: string, body: string, contentType: string, headers?: Record<string, string>): Promise<Answer>;
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  /** POST /mutate?commitNow=true with RDF */
  rdf(body: string, parameters?: string): Promise<Answer>;
  /** POST /mutate?commitNow=true with JSON */
  json(body: unknown, parameters?: string): Promise<Answer>;
  /** POST /query */
  query(text: string, parameters?: string): Promise<Answer>;
  /** the `data` of a query that must succeed */
  // biome-ignore lint/suspicious/noExplicitAny: see above
  data(text: string): Promise<any>;
  alter(body: string, parameters?: string): Promise<Answer>;
  graphql(query: string, variables?: unknown, headers?: Record<string, string>): Promise<Answer>;
  schema(text: string): Promise<Answer>;
  close(): Promise<void>;
}

export async function startService(options: Partial<ServiceOptions> = {}): Promise<TestService> {
  const service = await openService({ port: 0, logLevel: 'silent', environment: {}, ...options });
  const { url } = service;

  async function send(method: string, path: string, headers: Record<string, string>, body?: string): Promise<Answer> {
    const response = await fetch(url + path, { method, headers, ...(body === undefined ? {} : { body }) });
    const text = await response.text();
    let parsed: unknown = text;
    try {
      parsed = JSON.parse(text);
    } catch {
      // some answers are plain text
    }
    return { status: response.status, headers: response.headers, body: parsed };
  }
  const post = (path: string, body: string, contentType: string, headers: Record<string, string> = {}) =>
    send('POST', path, { 'content-type': contentType, ...headers }, body);
  const query = (text: string, parameters = '') => post(`/query${parameters}`, text, 'application/dql');

  return {
    service,
    url,
    post,
    get: (path, headers = {}) => send('GET', path, headers),
    rdf: (body, parameters = '?commitNow=true') => post(`/mutate${parameters}`, body, 'application/rdf'),
    json: (body, parameters = '?commitNow=true') =>
      post(`/mutate${parameters}`, JSON.stringify(body), 'application/json'),
    query,
    async data(text) {
      const answer = await query(text);
      if (answer.body.errors) throw new Error(JSON.stringify(answer.body.errors));
      return answer.body.data;
    },
    alter: (body, parameters = '') => post(`/alter${parameters}`, body, 'text/plain'),
    graphql: (text, variables, headers = {}) =>
      post('/graphql', JSON.stringify({ query: text, variables }), 'application/json', headers),
    schema: (text) => post('/admin/schema', text, 'text/plain'),
    close: () => service.close(),
  };
}
