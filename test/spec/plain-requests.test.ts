// Plain requests are answered past the HTTP library. Nobody may notice: each request here is sent twice, on a
// connection of its own, and on one that asked for something else before, which is the library's from then on.
import { once } from 'node:events';
import { connect } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../service.js';

const TYPES = `
type Note @auth(query: { rule: "{ $ROLE: { eq: \\"reader\\" } }" }) { id: ID! text: String }
type Open { id: ID! text: String! @search(by: [exact]) }
# Service.Authorization {"Header":"X-Note","Namespace":"claims","VerificationKey":"secret","Algo":"HS256"}`;

let s: TestService;
beforeAll(async () => {
  s = await startService({ environment: { GRAPHSTEAD_API_KEYS: 'k' } });
  await s.schema(TYPES);
  const texts = Array.from({ length: 100 }, (_, i) => ({ text: `a text that is long enough to be packed ${i}` }));
  await s.graphql('mutation ($of: [AddOpenInput!]!) { addOpen(input: $of) { numUids } }', { of: texts });
});
afterAll(() => s.close());

interface Seen {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** headers that no two answers have alike */
const UNLIKE = new Set(['date', 'x-request-id', 'content-length']);

function read(bytes: Buffer): Seen | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [first, ...lines] = bytes.toString('latin1', 0, end).split('\r\n');
  const all = new Map<string, string>();
  for (const line of lines) {
    const [, name, value] = /^([^:]+): (.*)$/.exec(line) ?? [];
    const known = name.toLowerCase();
    // two lines are one list, and names in it may stand there twice
    const joined = all.has(known) ? `${all.get(known)}, ${value}` : value;
    all.set(known, known === 'vary' ? [...new Set(joined.toLowerCase().split(', '))].join(', ') : joined);
  }
  const rest = bytes.subarray(end + 4);
  const body = bodyIn(rest, all);
  if (body === undefined) return undefined;
  const text = (all.get('content-encoding') === 'gzip' ? gunzipSync(body) : body).toString();
  all.delete('transfer-encoding');
  return {
    status: Number(first.split(' ')[1]),
    headers: Object.fromEntries([...all].filter(([name]) => !UNLIKE.has(name))),
    body: text,
  };
}

/** undefined while it has not come whole */
function bodyIn(rest: Buffer, headers: ReadonlyMap<string, string>): Buffer | undefined {
  const length = Number(headers.get('content-length') ?? 0);
  if (headers.get('transfer-encoding') !== 'chunked')
    return rest.length < length ? undefined : rest.subarray(0, length);
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const line = rest.indexOf('\r\n', at);
    if (line < 0) return undefined;
    const size = Number.parseInt(rest.toString('latin1', at, line), 16);
    if (size === 0) return Buffer.concat(parts);
    parts.push(rest.subarray(line + 2, line + 2 + size));
    at = line + 2 + size + 2;
  }
}

async function answersOf(url: string, requests: readonly (string | Buffer)[]): Promise<Seen[]> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).setNoDelay();
  await once(socket, 'connect');
  const seen: Seen[] = [];
  for (const request of requests) {
    let bytes = Buffer.alloc(0);
    let answer: Seen | undefined;
    socket.write(request);
    while (answer === undefined) {
      const [part] = (await once(socket, 'data')) as [Buffer];
      bytes = Buffer.concat([bytes, part]);
      answer = read(bytes);
    }
    seen.push(answer);
  }
  socket.destroy();
  return seen;
}

function post(body: string | Buffer, headers: Readonly<Record<string, string>> = {}, path = '/graphql'): Buffer {
  const all = {
    Host: 'localhost',
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(body)),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1'), Buffer.from(body)]);
}

const json = (query: string, more: object = {}) => JSON.stringify({ query, ...more });
const LIST = json('{ queryOpen(order: { asc: text }) { text } }');
const ONE = json('query ($text: String) { queryOpen(filter: { text: { eq: $text } }, first: 1) { text } }', {
  variables: { text: 'Grüße 🎉' },
});

/** timestamps and times, which no two answers have alike; what is kept for a key was told before its commit */
const UNLIKE_IN_BODY = /"(?:start_ts|commit_ts|hash|\w+_ns)":("[^"]*"|\d+),?/g;

/** What is answered past the library, and by it, without what no two answers have alike. */
async function bothWays(url: string, request: Buffer): Promise<(Seen | undefined)[]> {
  const [direct] = await answersOf(url, [request]);
  const [, library] = await answersOf(url, ['GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n', request]);
  return [direct, library].map((seen) => seen && { ...seen, body: seen.body.replace(UNLIKE_IN_BODY, '') });
}

const dql = (text: string, path = '/query', type = 'application/dql') => post(text, { 'Content-Type': type }, path);
const rdf = (text: string, path = '/mutate?commitNow=true') => dql(text, path, 'application/rdf');
const TEXTS = '{ q(func: type(Open)) { Open.text } }';

describe('a plain request of the graph language', () => {
  it.each<[string, Buffer]>([
    ['a query', dql(TEXTS)],
    [
      'a query for those who take it packed',
      post(TEXTS, { 'Content-Type': 'application/dql', 'Accept-Encoding': 'gzip' }, '/query'),
    ],
    ['a query in JSON', post(JSON.stringify({ query: TEXTS }), {}, '/query?ro=true&respFormat=json')],
    ['a query with a time limit', dql(TEXTS, '/query?timeout=20s')],
    ['a mistake', dql('{ q(func: ')],
    ['an unknown parameter', dql(TEXTS, '/query?readOnly=true')],
    ['a parameter that is no flag', dql(TEXTS, '/query?ro=maybe')],
    ['another media type', dql(TEXTS, '/query', 'image/png')],
    ['a media type that is none', dql('', '/commit?startTs=1', 'rdf')],
    ['an empty media type', dql(TEXTS, '/query', '')],
    ['a charset', dql(TEXTS, '/query', 'application/dql; charset=latin1')],
    ['a body that is no UTF-8', post(Buffer.from([0xff]), { 'Content-Type': 'application/dql' }, '/query')],
    ['a mutation', rdf('{ set { <0x1> <same> "x" . } }')],
    ['a mutation that changes nothing', rdf('{ delete { <0x1> <other> * . } }')],
    ['a pattern that is not supported', rdf('{ delete { * <other> * . } }')],
    ['a mutation in JSON', post('{"set": {"uid": "0x2", "same": "y"}}', {}, '/mutate?commitNow=true')],
    [
      'a mutation under a key',
      post('{"set": {"uid": "0x3", "same": "y"}}', { 'Idempotency-Key': 'once' }, '/mutate?commitNow=true'),
    ],
    ['a commit of nothing', rdf('', '/commit?startTs=1')],
    ['a commit without a timestamp', rdf('', '/commit')],
    ['a path that is not there', rdf('', '/commits')],
    [
      'a page of another site',
      post(TEXTS, { Origin: 'https://a.example', 'Content-Type': 'application/dql' }, '/query'),
    ],
    ['a name that is not its own', post(TEXTS, { Host: 'evil.example', 'Content-Type': 'application/dql' }, '/query')],
    [
      'a name that is not its own, with a key',
      post(TEXTS, { Host: 'evil.example', 'X-API-Key': 'k', 'Content-Type': 'application/dql' }, '/query'),
    ],
  ])('is answered as any other: %s', async (_, request) => {
    const [direct, library] = await bothWays(s.url, request);
    expect(direct).toEqual(library);
  });
});

describe('a plain GraphQL request', () => {
  it.each<[string, Buffer]>([
    ['a query', post(json('{ __typename }'))],
    ['a list', post(LIST)],
    ['a list for those who take it packed', post(LIST, { 'Accept-Encoding': 'gzip, deflate' })],
    ['a short answer for those who take it packed', post(json('{ __typename }'), { 'Accept-Encoding': 'gzip' })],
    ['a list for those who take it as it is', post(LIST, { 'Accept-Encoding': 'identity' })],
    ['a list for those who take other packings', post(LIST, { 'Accept-Encoding': 'br' })],
    ['a list for those who weigh packings', post(LIST, { 'Accept-Encoding': 'gzip;q=0, deflate' })],
    ['text beyond ASCII', post(ONE)],
    ['a mistake in the document', post(json('{ nothing }'))],
    [
      'a mistake, as GraphQL over HTTP tells it',
      post(json('{ nothing }'), { Accept: 'application/graphql-response+json' }),
    ],
    ['what any client takes', post(LIST, { Accept: '*/*' })],
    [
      'a list of media types',
      post(LIST, { Accept: 'text/html, application/json;q=0.5, application/graphql-response+json' }),
    ],
    ['an operation for a shared stream', post(json('{ __typename }'), { 'X-GraphQL-Event-Stream-Token': 'none' })],
    ['an operation for a shared stream, by its address', post(json('{ __typename }'), {}, '/graphql?token=none')],
    ['a parameter that means nothing', post(json('{ __typename }'), {}, '/graphql?a=b')],
    ['a subscription without a stream', post(json('subscription { a }'))],
    ['an event stream that is refused', post(json('{ __typename }'), { Accept: 'text/plain' })],
    ['a body that is no JSON', post('{"query": ')],
    ['a body that is no object', post('[]')],
    ['an empty body', post('')],
    ['a body that is no UTF-8', post(Buffer.from([0x7b, 0xff, 0x7d]))],
    ['a query that is no text', post('{"query": 1}')],
    ['a hash alone', post('{"extensions": {"persistedQuery": {"version": 1, "sha256Hash": "00"}}}')],
    ['a cached answer', post(json('query @cacheControl(maxAge: 5) { queryOpen(first: 1) { text } }'))],
    [
      'a cached answer, packed',
      post(json('query @cacheControl(maxAge: 5) { queryOpen { text } }'), { 'Accept-Encoding': 'gzip' }),
    ],
    ['a token that does not verify', post(json('{ queryNote { text } }'), { 'X-Note': 'no.token.this' })],
    ['a key beside it', post(json('{ queryNote { text } }'), { 'X-API-Key': 'k' })],
    ['another media type', post(json('{ __typename }'), { 'Content-Type': 'text/plain' })],
    [
      'a media type with a charset',
      post(json('{ __typename }'), { 'Content-Type': 'application/json; charset=utf-8' }),
    ],
    ['a page of another origin', post(json('{ __typename }'), { Origin: 'https://a.example' })],
    ['a page of another site', post(json('{ __typename }'), { 'Sec-Fetch-Site': 'cross-site' })],
    ['a name that is not its own', post(json('{ __typename }'), { Host: 'evil.example' })],
    ['a key that is too long to be remembered', post(json('{ __typename }'), { 'Idempotency-Key': 'x'.repeat(300) })],
    ['a header that is longer than the library reads', post(json('{ __typename }'), { 'X-Long': 'x'.repeat(20_000) })],
    ['a tab behind its length', post(json('{ __typename }'), { 'Content-Length': '26\t' })],
    ['a connection that a proxy is to end', post(json('{ __typename }'), { 'Proxy-Connection': 'close' })],
    ['headers in any case', post(json('{ __typename }'), { 'CONTENT-type': 'application/json', 'Content-Type': '' })],
  ])('is answered as any other: %s', async (_, request) => {
    const [direct, library] = await bothWays(s.url, request);
    expect(direct).toEqual(library);
  });

  it.each<[string, Record<string, string>]>([
    ['plain', {}],
    ['not', { origin: 'http://127.0.0.1:3000' }],
  ])('has the id that it names, and one of its own where it names none or an empty one: %s', async (_, more) => {
    const ids: (string | null)[] = [];
    for (const named of ['mine', undefined, undefined, '', ' ']) {
      const headers = { ...more, ...(named === undefined ? {} : { 'x-request-id': named }) };
      ids.push((await s.graphql('{ __typename }', undefined, headers)).headers.get('x-request-id'));
    }
    expect(ids[0]).toBe('mine');
    for (const id of ids.slice(1)) expect(id).toMatch(/^\w+-\w+$/);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('is counted', async () => {
    const count = async () =>
      Number(
        /graphstead_http_requests_total\{route="\/graphql",method="POST",status="200"\} (\d+)/.exec(
          (await s.get('/metrics')).body,
        )?.[1] ?? 0,
      );
    const before = await count();
    await answersOf(s.url, [post(json('{ __typename }')), post(json('{ __typename }'))]);
    expect(await count()).toBe(before + 2);
  });
});

describe('a plain request under --compat dgraph', () => {
  let peer: TestService;
  beforeAll(async () => {
    peer = await startService({ compat: 'dgraph' });
    await peer.schema('type Open { id: ID! text: String! }');
  });
  afterAll(() => peer.close());

  it.each<[string, Buffer]>([
    ['a query', dql('{ q(func: type(Open)) { uid } }')],
    ['a mistake, with status 200', dql('{ q(func: ')],
    ['an unknown parameter', dql('{ q(func: uid(1)) { uid } }', '/query?readOnly=true')],
    ['an upsert', rdf('upsert { query { q(func: uid(1)) { uid } } mutation { set { <0x1> <same> "x" . } } }')],
    ['GraphQL', post(json('{ queryOpen { text } }'))],
    ['GraphQL that cannot be read', post('{"query": ')],
  ])('is answered as any other: %s', async (_, request) => {
    const [direct, library] = await bothWays(peer.url, request);
    expect(direct).toEqual(library);
  });
});
