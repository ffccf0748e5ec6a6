// How the service is run: probes, figures, sizes and types of bodies, gzip, mistakes, and its end.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scratch, serve } from '../cli/command.js';
import { type Answer, startService, type TestService } from '../service.js';
import { openStream } from '../sse.js';
import { mistakesOf } from '../support/exposition.js';

let s: TestService;
beforeAll(async () => {
  s = await startService({ limits: { graphBodyBytes: 20_000, graphqlBodyBytes: 20_000 } });
  await s.alter('name: string @index(exact) @lang .\nage: int .');
  await s.schema('type Book { id: ID! title: String! @search(by: [exact]) pages: Int }');
  await s.rdf('{ set { <0x1> <name> "Ann" . <0x1> <age> "31" . } }');
});
afterAll(() => s.close());

describe('probes and figures', () => {
  it('/health says who, since when and how far', async () => {
    const { status, body } = await s.get('/health');
    expect(status).toBe(200);
    expect(body).toEqual([
      {
        instance: 'graphstead',
        status: 'healthy',
        version: expect.any(String),
        uptime: expect.any(Number),
        indexing: [],
        indexingProgress: [],
        lastCommitTs: s.service.core.committer.lastCommitTs,
      },
    ]);
  });

  it('/health/ready answers 200 while it serves', async () => {
    expect(await s.get('/health/ready')).toMatchObject({ status: 200, body: { status: 'ready' } });
  });

  it('/metrics names requests, times, memory, store and commits', async () => {
    await s.query('{ q(func: uid(0x1)) { name } }');
    const { status, headers, body } = await s.get('/metrics');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toContain('text/plain');
    const names = [...String(body).matchAll(/^# TYPE (\S+)/gm)].map((match) => match[1]);
    expect(names).toEqual(
      expect.arrayContaining([
        'graphstead_http_requests_total',
        'graphstead_http_request_seconds',
        'graphstead_process_resident_bytes',
        'graphstead_commit_last_commit_ts',
        'graphstead_commit_record_bytes',
        'graphstead_commit_waiting',
      ]),
    );
    expect(mistakesOf(body)).toEqual([]);
    expect(body).toMatch(/^graphstead_commit_seconds_count [1-9]\d*$/m);
    expect(mistakesOf('# TYPE a counter\na 1\na 1\nb 2')).toHaveLength(5);
    expect(names.some((name) => name.startsWith('graphstead_store_'))).toBe(true);
    expect(body).toMatch(/graphstead_http_requests_total\{[^}]*route="\/query"[^}]*\} \d+/);
  });
});

const code = (answer: Answer) => answer.body.errors?.[0]?.extensions?.code;

describe('parameters', () => {
  it.each([
    ['/query', 'readonly=true', 'ro'],
    ['/mutate', 'commitnow=true', 'commitNow'],
    ['/mutate', 'commitNow=true&ro=true', 'commitNow'],
    ['/commit', 'startTs=1&commit=true', 'abort'],
    ['/alter', 'background=true', 'runInBackground'],
    ['/admin/backup', 'to=%2Ftmp%2Fnever&dir=x', 'to'],
    ['/assign', 'num=1&type=uids', 'what'],
  ])('%s?%s is refused, and what is known is told', async (path, parameters, known) => {
    const answer = await s.post(`${path}?${parameters}`, 'name: string .', 'application/rdf');
    expect([answer.status, code(answer)]).toEqual([400, 'INVALID_REQUEST']);
    expect(answer.body.errors[0].extensions.fix).toContain(known);
  });

  it("are passed over where the peer's clients send more", async () => {
    const peer = await startService({ compat: 'dgraph' });
    expect(await peer.rdf('{ set { <0x1> <name> "x" . } }', '?commitNow=true&ro=true&ludicrous=1')).toMatchObject({
      body: { data: { code: 'Success' } },
    });
    await peer.close();
  });

  it('a drop of everything that names one thing drops nothing', async () => {
    await s.rdf('{ set { <0x77> <kept> "yes" . } }');
    for (const op of ['ALL', 'DATA']) {
      const answer = await s.alter(JSON.stringify({ drop_op: op, drop_value: 'nick' }));
      expect(answer, op).toMatchObject({
        status: 400,
        body: { errors: [{ extensions: { code: 'INVALID_REQUEST' } }] },
      });
    }
    expect(await s.data('{ q(func: uid(0x77)) { kept } }')).toEqual({ q: [{ kept: 'yes' }] });
  });

  it.each([
    ['to drop and to add', { drop_attr: 'kept', schema: 'nick: int .' }],
    ['to drop everything and one thing', { drop_all: true, drop_attr: 'nick' }],
    ['to drop the data and one thing', { drop_op: 'DATA', drop_attr: 'nick' }],
    ['to drop two things', { drop_op: 'ATTR', drop_value: 'nick', drop_attr: 'kept' }],
    ['for what is unknown', { drop_op: 'TYPES', drop_value: 'T', drop_attr: 'kept' }],
    ['for what is no text', { drop_op: 3, drop_attr: 'kept' }],
  ])('a body of /alter that asks %s is refused, and drops nothing', async (_, body) => {
    await s.rdf('{ set { <0x78> <kept> "yes" . } }');
    const answer = await s.alter(JSON.stringify(body));
    expect([answer.status, code(answer)]).toEqual([400, 'INVALID_REQUEST']);
    expect(await s.data('{ q(func: uid(0x78)) { kept } }')).toEqual({ q: [{ kept: 'yes' }] });
  });
});

describe('bodies', () => {
  const chunked = (body: Buffer) =>
    Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n0\r\n\r\n')]);
  const LARGE = `{ set { <0x1> <name> "${'x'.repeat(30_000)}" . } }`;

  it.each([
    ['/query', 'application/dql'],
    ['/mutate', 'application/rdf'],
    ['/alter', 'text/plain'],
    ['/graphql', 'application/json'],
    ['/admin/schema', 'text/plain'],
    ['/admin', 'application/json'],
  ])('%s refuses one that is too large with 413 and the limit', async (path, type) => {
    const answer = await s.post(path, LARGE, type);
    expect(answer.status).toBe(413);
    expect(code(answer)).toBe('BODY_TOO_LARGE');
    expect(answer.body.errors[0].message).toContain('20000');
    expect(answer.body.errors[0].extensions.fix).toContain('BodyBytes');
  });

  it.each([
    ['a list', '[1]'],
    ['a string', '"Ann"'],
    ['a number', '5'],
    ['a boolean', 'true'],
  ])('/query refuses variables that are %s, with how they are sent', async (what, variables) => {
    const body = `{"query": "query q($a: string) { q(func: eq(name, $a)) { name } }", "variables": ${variables}}`;
    const { status, body: answer } = await s.post('/query', body, 'application/json');
    expect([status, answer.errors[0].message]).toEqual([400, `"variables" is ${what}, not an object`]);
    expect(answer.errors[0].extensions).toMatchObject({ code: 'INVALID_REQUEST', fix: expect.stringContaining('$a') });
  });

  it('/query refuses more variables than a query could declare', async () => {
    const own = await startService({ limits: { syntaxTokens: 300 } });
    const named = (count: number) => Array.from({ length: count }, (_, i) => `"$v${i}": "1"`).join();
    const ask = (count: number) => {
      const body = `{"query": "{ q(func: uid(0x1)) { name } }", "variables": {${named(count)}}}`;
      return own.post('/query', body, 'application/json');
    };
    const { status, body } = await ask(200);
    expect([status, body.errors[0].extensions.code]).toEqual([400, 'LIMIT_EXCEEDED']);
    expect((await ask(100)).status).toBe(200);
    await own.close();
  });

  it.each([
    ['whose length is told', 'content-length: 30000000', Buffer.alloc(30_000_000, 'x')],
    ['in chunks', 'transfer-encoding: chunked', chunked(Buffer.alloc(30_000_000, 'x'))],
    [
      'that is packed',
      'content-encoding: gzip\r\ntransfer-encoding: chunked',
      chunked(gzipSync(randomBytes(10_000_000), { level: 0 })),
    ],
  ])('tells whoever sends all of a body before he reads that it is too large: one %s', async (_, header, body) => {
    const { hostname, port } = new URL(s.url);
    const socket = connect(Number(port), hostname);
    socket.pause();
    socket.write(`POST /query HTTP/1.1\r\nhost: ${hostname}\r\ncontent-type: application/dql\r\n${header}\r\n\r\n`);
    await new Promise<void>((written, failed) => {
      socket.once('error', failed);
      socket.write(body, () => written());
    });
    socket.end(`GET /health/ready HTTP/1.1\r\nhost: ${hostname}\r\n\r\n`);
    const answer = await text(socket);
    expect(answer).toMatch(/^HTTP\/1\.1 413 [\s\S]*"BODY_TOO_LARGE"[\s\S]*HTTP\/1\.1 200 OK[\s\S]*"ready"/);
  });

  it('refuses one that is small only while it is packed', async () => {
    const headers = { 'content-type': 'application/rdf', 'content-encoding': 'gzip' };
    const body = new Uint8Array(gzipSync(LARGE));
    const response = await fetch(`${s.url}/mutate?commitNow=true`, { method: 'POST', headers, body });
    expect(response.status).toBe(413);
    await response.body?.cancel();
  });

  it.each([
    ['/query', 'application/xml'],
    ['/query', 'application/dql; charset=latin1'],
    ['/mutate', 'text/csv'],
    ['/graphql', 'text/plain'],
    ['/graphql', 'multipart/form-data; boundary=x'],
    ['/graphql', 'application/json, text/plain'],
    ['/mutate', ';'],
  ])('%s refuses %s with 415 and what to send', async (path, type) => {
    const answer = await s.post(path, '{ q(func: uid(0x1)) { name } }', type);
    expect(answer.status).toBe(415);
    expect(code(answer)).toBe('UNSUPPORTED_MEDIA_TYPE');
    expect(answer.body.errors[0].extensions.fix).toBeTruthy();
  });

  it('refuses an encoding that is not known with 415, and bytes that are not what they claim with 400', async () => {
    const text = '{ q(func: uid(0x1)) { name } }';
    const brotli = await s.post('/query', text, 'application/dql', { 'content-encoding': 'br' });
    expect(brotli.status).toBe(415);
    const unpacked = await s.post('/query', text, 'application/dql', { 'content-encoding': 'gzip' });
    expect([unpacked.status, code(unpacked)]).toEqual([400, 'INVALID_REQUEST']);
    expect(unpacked.body.errors[0].extensions.fix).toContain('pack it whole');
    const bytes = await fetch(`${s.url}/query`, {
      method: 'POST',
      headers: { 'content-type': 'application/dql' },
      body: Uint8Array.of(0x7b, 0xff, 0xfe, 0x7d),
    });
    expect(bytes.status).toBe(400);
    expect(JSON.stringify(await bytes.json())).toContain('UTF-8');
  });

  it('takes gzip in and gives gzip out', async () => {
    const headers = { 'content-type': 'application/rdf', 'content-encoding': 'gzip' };
    const lines = Array.from({ length: 300 }, (_, i) => `<0x${(i + 256).toString(16)}> <name> "packed ${i}" .`);
    const body = new Uint8Array(gzipSync(`{ set { ${lines.join('\n')} } }`));
    expect((await fetch(`${s.url}/mutate?commitNow=true`, { method: 'POST', headers, body })).status).toBe(200);
    const text = '{ q(func: has(name), first: 400) { name } }';
    const [plain, packed] = await Promise.all([raw('identity', text), raw('gzip', text)]);
    expect(packed.encoding).toBe('gzip');
    expect(packed.bytes.length).toBeLessThan(plain.bytes.length / 2);
    const data = (bytes: Buffer) => JSON.parse(bytes.toString('utf8')).data;
    expect(data(gunzipSync(packed.bytes))).toEqual(data(plain.bytes));
    expect(data(plain.bytes).q.length).toBe(301);
  });

  /** fetch would unpack unasked */
  function raw(accepted: string, body: string): Promise<{ encoding?: string; bytes: Buffer }> {
    return new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/dql', 'accept-encoding': accepted };
      const request = httpRequest(`${s.url}/query`, { method: 'POST', headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve({ encoding: response.headers['content-encoding'], bytes: Buffer.concat(chunks) }),
        );
      });
      request.on('error', reject);
      request.end(body);
    });
  }
});

describe('large bodies that are held', () => {
  const MIB = 1024 * 1024;
  const LARGE = `{ set { <0x1> <name> "x" . } }${' '.repeat(2 * MIB)}`;

  /** A connection that has sent `begun`, and the first line of what comes back. */
  function half(own: TestService, head: string, begun: string) {
    const { hostname, port } = new URL(own.url);
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    socket.write(`${head} HTTP/1.1\r\nhost: ${hostname}:${port}\r\ncontent-type: application/rdf\r\n${begun}`);
    const status = new Promise<string>((resolve, reject) => {
      socket.once('data', (bytes) => resolve(bytes.toString().split('\r\n')[0]));
      socket.once('error', reject);
    });
    return { socket, status };
  }

  it.each([
    ['of a length that is told', `content-length: ${LARGE.length}`, LARGE.slice(0, 100)],
    ['that come in parts', 'transfer-encoding: chunked', `${(2 * MIB).toString(16)}\r\n${' '.repeat(2 * MIB)}\r\n`],
  ])('%s refuse others until they are let go; small ones are answered', async (_what, header, begun) => {
    const own = await startService({ limits: { largeBodiesBytes: 3 * MIB } });
    const begin = () => {
      const { socket } = half(own, 'POST /mutate', `${header}\r\n\r\n${begun}`);
      return socket.on('end', () => socket.destroy());
    };
    let socket = begin();
    const refused = { status: 503, body: { errors: [{ extensions: { code: 'OVERLOADED' } }] } };
    const another = async () => {
      const answer = await own.rdf(LARGE);
      // that one was there sooner
      if (socket.destroyed) socket = begin();
      return answer;
    };
    await expect.poll(another).toMatchObject(refused);
    expect((await another()).headers.get('retry-after')).toBe('1');
    expect((await own.rdf('{ set { <0x1> <name> "y" . } }')).status).toBe(200);
    socket.destroy();
    await expect.poll(async () => (await own.rdf(LARGE)).status).toBe(200);
    expect((await own.rdf(LARGE)).status).toBe(200);
    await own.close();
  });

  const inParts = (bytes: number) => `${bytes.toString(16)}\r\n${' '.repeat(bytes)}\r\n`;
  const CHUNKED = 'transfer-encoding: chunked\r\n\r\n';

  it('that begin together and tell no length are refused where they come to more', async () => {
    const own = await startService({ limits: { largeBodiesBytes: 3 * MIB } });
    const all = [1, 2].map(() => half(own, 'POST /mutate', CHUNKED));
    const first = Promise.race(all.map(({ status }) => status));
    for (const { socket } of all) socket.write(inParts(2 * MIB));
    expect(await first).toBe('HTTP/1.1 503 Service Unavailable');
    for (const { socket } of all) socket.destroy();
    await expect.poll(async () => (await own.rdf(LARGE)).status).toBe(200);
    await own.close();
  });

  it('that are packed count by what comes out of them, and are let go', async () => {
    const own = await startService({ limits: { largeBodiesBytes: 3 * MIB } });
    const headers = { 'content-type': 'application/rdf', 'content-encoding': 'gzip' };
    const send = async (bytes: Uint8Array) =>
      (await fetch(`${own.url}/mutate?commitNow=true`, { method: 'POST', headers, body: new Uint8Array(bytes) }))
        .status;
    const two = gzipSync(LARGE);
    const begin = () => {
      const { socket } = half(own, 'POST /mutate', `content-encoding: gzip\r\ncontent-length: ${two.length}\r\n\r\n`);
      socket.write(two.subarray(0, -9));
      return socket.on('end', () => socket.destroy());
    };
    let cut = begin();
    const another = async () => {
      const status = await send(two);
      // that one was there sooner
      if (cut.destroyed) cut = begin();
      return status;
    };
    await expect.poll(another).toBe(503);
    cut.destroy();
    await expect.poll(() => send(two)).toBe(200);
    for (let times = 0; times < 5; times++) expect(await send(two.subarray(0, -9))).toBe(400);
    expect(await send(two)).toBe(200);
    await own.close();
  });

  it('that come with a request that reads none are none', async () => {
    const own = await startService({ limits: { largeBodiesBytes: 3 * MIB } });
    const { socket, status } = half(own, 'GET /changes', `${CHUNKED}${inParts(4 * MIB)}`);
    expect(await status).toBe('HTTP/1.1 200 OK');
    for (let times = 0; times < 5; times++) expect((await own.rdf(LARGE)).status).toBe(200);
    socket.destroy();
    await own.close();
  });

  it.each(['content-length: 9\r\n\r\nx', CHUNKED, 'a-header-that-does-not'])(
    'that do not come to their end are given up: %j',
    async (begun) => {
      const own = await startService({ limits: { requestMs: 100 } });
      const { socket, status } = half(own, 'POST /mutate', begun);
      expect(await status).toBe('HTTP/1.1 408 Request Timeout');
      // although this side has not closed its half
      const refused = new Promise((resolve) => socket.on('error', resolve));
      const writing = setInterval(() => socket.write('x'), 50);
      expect(await refused).toMatchObject({ code: expect.stringMatching(/EPIPE|ECONNRESET/) });
      clearInterval(writing);
      await own.close();
    },
  );
});

describe('large answers that nobody reads', () => {
  const MIB = 1024 * 1024;
  const QUERY = '{ q(func: uid(0x1)) { name } }';

  /** A service whose one name is larger than what the system keeps for a connection, and a connection that asked for it. */
  async function unread(options: Parameters<typeof startService>[0]) {
    const own = await startService(options);
    await own.alter('name: string .');
    await own.rdf(`{ set { <0x1> <name> "${'x'.repeat(30 * MIB)}" . } }`);
    const { hostname, port } = new URL(own.url);
    const socket = connect(Number(port), hostname);
    const head = `host: ${hostname}:${port}\r\ncontent-type: application/dql\r\ncontent-length: ${QUERY.length}`;
    socket.write(`POST /query HTTP/1.1\r\n${head}\r\n\r\n${QUERY}`);
    await new Promise((resolve) => socket.once('readable', resolve));
    return { own, socket };
  }

  const small = (own: TestService) => own.query('{ q(func: uid(0x2)) { name } }');

  it('refuse others until they are let go; what has no large answers goes on', async () => {
    const { own, socket } = await unread({ limits: { largeAnswersBytes: MIB } });
    expect(await small(own)).toMatchObject({ status: 503, body: { errors: [{ extensions: { code: 'OVERLOADED' } }] } });
    expect((await own.get('/health')).status).toBe(200);
    socket.destroy();
    await expect.poll(async () => (await small(own)).status).toBe(200);
    await own.close();
  });

  it('are let go when their reader takes nothing of them', async () => {
    const { own, socket } = await unread({ limits: { largeAnswersBytes: MIB, answerStallMs: 50 } });
    socket.on('error', () => undefined);
    await expect.poll(async () => (await small(own)).status).toBe(200);
    socket.destroy();
    await own.close();
  });
});

describe('paths', () => {
  it.each([
    ['GET', '/nowhere'],
    ['POST', '/querry'],
    ['GET', '/graphql/more'],
  ])('%s %s is 404, with the paths there are', async (method, path) => {
    const response = await fetch(s.url + path, { method });
    const body = (await response.json()) as {
      errors: { message: string; extensions: { code: string; fix: string } }[];
    };
    expect(response.status).toBe(404);
    expect(body.errors[0].message).toContain(path);
    expect(body.errors[0].extensions).toMatchObject({ code: 'NOT_FOUND', fix: expect.stringContaining('/query') });
  });

  it('are told an address that cannot be decoded like every other mistake', async () => {
    const { status, headers, body } = await s.get('/%ff');
    expect([status, headers.get('x-request-id')]).toEqual([400, expect.any(String)]);
    expect(body).toMatchObject({ errors: [{ extensions: { code: 'INVALID_REQUEST' } }] });
  });

  it.each([
    ['GET', '/mutate', 'POST'],
    ['DELETE', '/alter', 'POST'],
    ['PATCH', '/graphql', 'GET, POST, PUT, DELETE'],
    ['POST', '/health', 'GET'],
    ['GET', '/query/', 'POST'],
  ])('%s %s is 405, with the methods there are', async (method, path, allowed) => {
    const response = await fetch(s.url + path, { method });
    const body = (await response.json()) as { errors: { message: string; extensions: { code: string } }[] };
    expect([response.status, response.headers.get('allow')]).toEqual([405, allowed]);
    expect(body.errors[0]).toMatchObject({
      message: `${path.replace(/\/$/, '')} does not take ${method}`,
      extensions: { code: 'METHOD_NOT_ALLOWED' },
    });
  });
});

describe('bad input changes nothing', () => {
  const state = async () => ({
    data: await s.data('{ q(func: has(name), orderasc: name) { uid expand(_all_) name name@de age } }'),
    schema: (await s.query('schema {}')).body.data,
    graphql: (await s.get('/admin/schema')).body,
    lastCommitTs: s.service.core.committer.lastCommitTs,
  });
  const cases: readonly (readonly [
    what: string,
    path: string,
    type: string,
    body: string,
    code: string,
    position: { line: number; column: number } | undefined,
  ])[] = [
    [
      'RDF: a good line, then one without its end',
      '/mutate?commitNow=true',
      'application/rdf',
      '{ set {\n<0x1> <name> "new" .\n<0x1> <age> "7"\n} }',
      'SYNTAX',
      { line: 3, column: 16 },
    ],
    ['no schema lines', '/alter', 'text/plain', ' \n', 'INVALID_REQUEST', undefined],
    ['no type definitions', '/admin/schema', 'text/plain', '', 'INVALID_SDL', { line: 1, column: 1 }],
    [
      'RDF: an open string',
      '/mutate?commitNow=true',
      'application/rdf',
      '{ set {\n<0x1> <name> "new .\n} }',
      'SYNTAX',
      { line: 1, column: 7 },
    ],
    [
      'RDF: a value that is no int',
      '/mutate?commitNow=true',
      'application/rdf',
      '{ set {\n<0x1> <name> "new" .\n<0x1> <age> "old" .\n} }',
      'INVALID_VALUE',
      { line: 3, column: 1 },
    ],
    [
      'RDF: a language where there is none',
      '/mutate?commitNow=true',
      'application/rdf',
      '{ set {\n<0x1> <name> "new" .\n<0x1> <age> "7"@de .\n} }',
      'INVALID_VALUE',
      { line: 3, column: 1 },
    ],
    [
      'JSON: a comma too many',
      '/mutate?commitNow=true',
      'application/json',
      '{"set": [\n {"uid": "0x1", "name": "new"},\n]}',
      'SYNTAX',
      { line: 3, column: 1 },
    ],
    [
      'JSON: a value that is no int',
      '/mutate?commitNow=true',
      'application/json',
      '{"set": [\n {"uid": "0x1", "name": "new"},\n {"uid": "0x1", "age": "old"}]}',
      'INVALID_VALUE',
      { line: 3, column: 24 },
    ],
    [
      'JSON: a uid that is none',
      '/mutate?commitNow=true',
      'application/json',
      '{"set": [{"uid": "0x1", "name": "new"}, {"uid": "zz top", "name": "x"}]}',
      'INVALID_MUTATION',
      { line: 1, column: 49 },
    ],
    [
      'upsert: a query that does not parse',
      '/mutate?commitNow=true',
      'application/rdf',
      'upsert {\n query { q(func: eq(name, "Ann") { v as uid } }\n mutation { set { uid(v) <name> "new" . } }\n}',
      'SYNTAX',
      { line: 2, column: 34 },
    ],
    [
      'a query without its end',
      '/query',
      'application/dql',
      '{\n q(func: uid(0x1)) {\n name\n',
      'SYNTAX',
      { line: 4, column: 1 },
    ],
    [
      'a query with a function that is none',
      '/query',
      'application/dql',
      '{\n q(func: near_by(name, "x")) { name }\n}',
      'INVALID_QUERY',
      { line: 2, column: 10 },
    ],
    [
      'a query that is no JSON',
      '/query',
      'application/json',
      '{"query": "{ q(func: uid(1)) { uid } }",\n}',
      'SYNTAX',
      { line: 2, column: 1 },
    ],
    [
      'schema: a good line, then a type that is none',
      '/alter',
      'text/plain',
      'fresh: string .\nname: strin .',
      'SYNTAX',
      { line: 2, column: 7 },
    ],
    [
      'schema: an index that does not fit',
      '/alter',
      'text/plain',
      'fresh: string .\nage: int @index(term) .',
      'INVALID_SCHEMA',
      { line: 2, column: 17 },
    ],
    [
      'schema: a line without its end',
      '/alter',
      'text/plain',
      'fresh: string .\nname: string',
      'SYNTAX',
      { line: 2, column: 13 },
    ],
    [
      'alter: JSON that asks for nothing',
      '/alter',
      'application/json',
      '{"drop": "all"}',
      'INVALID_REQUEST',
      undefined,
    ],
    ['alter: JSON cut off', '/alter', 'application/json', '{"drop_all": tru', 'SYNTAX', { line: 1, column: 17 }],
    [
      'GraphQL: a mutation without its end',
      '/graphql',
      'application/graphql',
      'mutation {\n addBook(input: [{ title: "A" }]) { numUids }\n',
      'INVALID_GRAPHQL',
      { line: 3, column: 1 },
    ],
    [
      'GraphQL: a good mutation beside a field that is none',
      '/graphql',
      'application/graphql',
      'mutation {\n addBook(input: [{ title: "A" }]) { numUids }\n addBok { numUids }\n}',
      'INVALID_GRAPHQL',
      { line: 3, column: 2 },
    ],
    [
      'GraphQL: a value of another type',
      '/graphql',
      'application/graphql',
      'mutation {\n addBook(input: [{ title: "A", pages: "many" }]) { numUids }\n}',
      'INVALID_GRAPHQL',
      { line: 2, column: 39 },
    ],
    [
      'type definitions that do not parse',
      '/admin/schema',
      'text/plain',
      'type Book {\n title: String!\n',
      'INVALID_SDL',
      { line: 3, column: 1 },
    ],
    [
      'type definitions with a type that is none',
      '/admin/schema',
      'text/plain',
      'type Book {\n title: Strin!\n}',
      'INVALID_SDL',
      { line: 2, column: 9 },
    ],
  ];

  it.each(cases)('%s', async (_what, path, type, body, expected, position) => {
    const before = await state();
    const answer = await s.post(path, body, type);
    const [error] = answer.body.errors;
    const place = error.locations?.[0] ?? error.extensions.position;
    expect({ status: answer.status, code: error.extensions.code, place }).toEqual({
      status: path === '/graphql' ? expect.any(Number) : 400,
      code: expected,
      place: position,
    });
    expect(error.message.length).toBeGreaterThan(10);
    const { lastCommitTs, ...after } = await state();
    expect(after).toEqual({ data: before.data, schema: before.schema, graphql: before.graphql });
    expect(lastCommitTs).toBe(before.lastCommitTs);
  });
});

describe('what is no request', () => {
  /** What a server says to bytes that are no request, or too much of one. */
  async function say(bytes: string): Promise<{ status: number; error: { message: string; extensions: unknown } }> {
    const { hostname, port } = new URL(s.service.url);
    const socket = connect(Number(port), hostname);
    socket.end(bytes);
    let text = '';
    for await (const part of socket) text += String(part);
    const [head, body] = text.split('\r\n\r\n');
    return { status: Number(head.split(' ')[1]), error: JSON.parse(body).errors[0] };
  }

  it('is refused as everything else: no HTTP, or too many headers', async () => {
    const none = await say('HELLO\r\n\r\n');
    const fix = expect.stringMatching(/\w/);
    expect([none.status, none.error.extensions]).toEqual([400, { code: 'INVALID_REQUEST', fix }]);
    const large = await say(`GET /health HTTP/1.1\r\nhost: localhost\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`);
    expect([large.status, large.error.extensions]).toEqual([431, { code: 'LIMIT_EXCEEDED', fix }]);
    expect(large.error.message).toContain('16384');
  });
});

describe('the end', () => {
  it('by a crash has a code of its own: a supervisor starts it again, and not where a start was refused', async () => {
    const folder = scratch();
    try {
      const throws = 'process.once("SIGUSR2", () => { throw new Error("on purpose"); })';
      const environment = { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(throws)}` };
      const running = await serve(['--data', folder.path('data')], { environment });
      const told = running.said(/on purpose/);
      expect(await running.stop('SIGUSR2')).toBe(70);
      expect(await told).toMatch(/Error: on purpose\n +at /);
    } finally {
      folder.remove();
    }
  });

  it('is not the end of a terminal that it never had: nohup keeps it', async () => {
    const folder = scratch();
    try {
      const running = await serve(['--data', folder.path('data')]);
      const signalled = running.stop('SIGHUP');
      expect(await Promise.race([signalled, running.query('{ q(func: has(name)) { name } }')])).toHaveProperty('data');
      expect(await running.stop('SIGTERM')).toBe(0);
    } finally {
      folder.remove();
    }
  });

  it('SIGTERM lets requests under way finish and their writes stand, ends streams, and leaves with 0', async () => {
    const folder = scratch();
    try {
      const args = ['--data', folder.path('data')];
      const running = await serve(args);
      const stream = await openStream(`${running.url}/changes?after=0`, {});
      await stream.next();
      const requests = await Promise.all(Array.from({ length: 5 }, (_, i) => begin(running.url, `name ${i}`)));
      const ended = running.stop('SIGTERM');
      expect(await stream.next()).toBeUndefined();
      await expect(fetch(`${running.url}/health`)).rejects.toThrow();
      expect(await Promise.all(requests.map((finish) => finish()))).toEqual([200, 200, 200, 200, 200]);
      expect(await ended).toBe(0);
      const again = await serve(args);
      const answer = (await again.query('{ q(func: has(name)) { name } }')) as { data: { q: unknown[] } };
      expect(answer.data.q.length).toBe(5);
      expect(await again.stop('SIGINT')).toBe(0);
    } finally {
      folder.remove();
    }
  });

  it('does not wait longer than limits.shutdownMs for a request that never ends', async () => {
    const short = await startService({ limits: { shutdownMs: 50 } });
    const finish = await begin(short.url, 'late');
    await short.close();
    await expect(finish()).rejects.toThrow();
  });

  it('does not wait for a connection that was opened ahead of a request, as browsers do', async () => {
    const patient = await startService({ limits: { shutdownMs: 600_000 } });
    const ahead = connect(Number(new URL(patient.url).port), '127.0.0.1');
    await once(ahead, 'connect');
    await patient.get('/health'); // behind it: by now the service knows it
    // it is told why, and reads that
    const told = text(ahead.on('error', () => undefined));
    await patient.close();
    expect(await told).toContain('"NOT_READY"');
  });

  /** A mutation whose headers the service has read and whose body is on its way; `finish` sends the rest. */
  function begin(url: string, name: string): Promise<() => Promise<number | undefined>> {
    return new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/rdf', expect: '100-continue' };
      const request = httpRequest(`${url}/mutate?commitNow=true`, { method: 'POST', headers });
      const answered = new Promise<number | undefined>((answer, fail) => {
        request.on('error', fail);
        request.on('response', (response) => {
          response.resume();
          response.on('end', () => answer(response.statusCode));
        });
      });
      answered.catch(reject);
      request.on('continue', () => {
        request.write('{ set { _:a <name> ');
        resolve(() => {
          request.end(`"${name}" . } }`);
          return answered;
        });
      });
      request.flushHeaders();
    });
  }
});
