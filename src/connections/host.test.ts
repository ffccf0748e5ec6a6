import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { gzipSync } from 'node:zlib';
import { type handleUnaryCall, Server as GrpcServer, ServerCredentials } from '@grpc/grpc-js';
import dgraph from 'dgraph-js';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type CallRecord, endCallsBy, onCall, openConnections, type SentMessage } from './host.js';

let server: Server | undefined;

async function serve(handler: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  server = createServer(handler);
  await new Promise<void>((done) => server?.listen(0, '127.0.0.1', done));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

afterEach(async () => {
  onCall(undefined);
  server?.closeAllConnections();
  await new Promise((done) => (server ? server.close(done) : done(undefined)));
  server = undefined;
});

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('utf8');
}

function open(baseUrl: string, extra: object = {}, replyBytes?: number) {
  const config = {
    connections: { api: { type: 'http', baseUrl, headers: { Authorization: 'Bearer s3cret' }, ...extra } },
    missing: { later: ['APP_LATER_KEY'] },
    values: { api: { KEY: 's3cret' } },
    models: {
      writer: { sourceModel: 'tiny-1', connection: 'api', path: 'v1/chat/completions', inputPrice: 2, outputPrice: 4 },
    },
  } as const;
  return openConnections(config, replyBytes);
}

/** An answer that goes on for as long as it is read; resolves once it is not read any more. */
function endless(response: ServerResponse, part: string | Buffer): Promise<void> {
  const more = () => {
    while (!response.destroyed && response.write(part));
  };
  response.on('drain', more);
  more();
  return new Promise((left) => response.once('close', left));
}

describe('an http connection', () => {
  it('calls below its baseUrl with the configured headers', async () => {
    const base = await serve((request, response) =>
      response.end(JSON.stringify({ url: request.url, key: request.headers.authorization })),
    );
    const { connections, close } = open(`${base}/v1`);
    expect(await connections.http('api').json('/users?x=1')).toEqual({ url: '/v1/users?x=1', key: 'Bearer s3cret' });
    await close();
  });

  it('sends forms, parameters, bytes and streams as fetch does, and methods in capitals', async () => {
    const base = await serve(async (request, response) => {
      const { 'content-type': type } = request.headers;
      response.end(JSON.stringify({ method: request.method, type, text: await textOf(request) }));
    });
    const { connections, close } = open(base);
    const send = (init: object) => connections.http('api').json('x', { method: 'post', ...init });
    const form = new FormData();
    form.set('name', 'Zoë');
    expect(await send({ body: form })).toMatchObject({
      type: /^multipart\/form-data; boundary=/,
      text: /name="name"\r\n\r\nZoë\r\n/,
    });
    expect(await send({ body: new URLSearchParams({ a: 'b c' }) })).toMatchObject({ text: 'a=b+c', method: 'POST' });
    expect(await send({ body: Buffer.from('bytes') })).toMatchObject({ text: 'bytes' });
    expect(await send({ body: new Response('a stream').body, duplex: 'half' })).toMatchObject({ text: 'a stream' });
    expect(await send({ method: 'patch', body: 'x' })).toMatchObject({ method: 'PATCH' });
    await close();
  });

  it.each([
    ['404 Non trouv\u00e9', 404],
    ['200 \u00e4\u00bd\u00a0', 200],
    ['999 Request denied', 999],
  ])('gives a reply whose first line is HTTP/1.1 %s', async (line, status) => {
    const base = await serve((request) => {
      request.socket.end(Buffer.from(`HTTP/1.1 ${line}\r\ncontent-length: 2\r\n\r\n{}`, 'latin1'));
    });
    const { connections, close } = open(base);
    const reply = await connections.http('api').fetch('x');
    expect([reply.status, reply.ok, await reply.text()]).toEqual([status, status === 200, '{}']);
    await close();
  });

  it('takes a path with a colon in its first part for a path', async () => {
    const base = await serve(({ url }, response) => response.end(JSON.stringify(url)));
    const { connections, close } = open(`${base}/v1`);
    for (const path of ['documents:commit', '/documents:commit', '/urn:isbn:1', '?a=b:c', '']) {
      expect(await connections.http('api').json(path)).toBe(`/v1/${path.replace('/', '')}`);
    }
    await close();
  });

  it('makes many calls by one signal without a warning of Node.js', async () => {
    const warned = vi.spyOn(process, 'emitWarning');
    const base = await serve((_, response) => response.end('{}'));
    const { connections, close } = open(base);
    const [task, own] = [new AbortController(), new AbortController()];
    const ask = (init?: object) => connections.http('api').json('x', init);
    try {
      endCallsBy(() => task.signal);
      await Promise.all(Array.from({ length: 12 }, () => ask()));
      for (let i = 0; i < 12; i++) await ask({ signal: own.signal });
      endCallsBy(() => undefined);
      await Promise.all(Array.from({ length: 12 }, () => ask({ signal: own.signal })));
      expect(warned).not.toHaveBeenCalled();
    } finally {
      endCallsBy(() => undefined);
      warned.mockRestore();
      await close();
    }
  });

  it('never leaves its baseUrl: not by a path, an address or a redirect', async () => {
    const asked: unknown[] = [];
    const base = await serve(({ url }, response) => {
      asked.push(url);
      response.writeHead(302, { location: '/elsewhere' }).end();
    });
    const { connections, close } = open(`${base}/v1`);
    const packed = ['..%2fsecret', 'a%5C%2E.%5c..', '..;/secret'];
    for (const path of ['../secret', ...packed, 'http://127.0.0.1:1/v1/x', 'redirected']) {
      await expect(connections.http('api').fetch(path)).rejects.toMatchObject({
        code: 'CONNECTION_FAILED',
        message: /outside its baseUrl/,
      });
    }
    expect(asked).toEqual(['/v1/redirected']);
    await close();
  });

  it('follows no redirect where the call says so', async () => {
    const base = await serve(({ url }, response) => {
      if (url === '/v1/from') response.writeHead(302, { location: '/v1/to' });
      response.end('{}');
    });
    const { connections, close } = open(`${base}/v1`);
    const api = connections.http('api');
    const { status, headers } = await api.fetch('from', { redirect: 'manual' });
    expect([status, headers.get('location')]).toEqual([302, '/v1/to']);
    const told = { code: 'CONNECTION_FAILED', message: /status 302 is a redirect/, fix: /redirect: "error"/ };
    await expect(api.fetch('from', { redirect: 'error' })).rejects.toMatchObject(told);
    expect((await api.fetch('to', { redirect: 'error' })).status).toBe(200);
    await close();
  });

  it('goes where a redirect sends it with the method that the Fetch standard says, and a body only with its headers', async () => {
    const asked: unknown[] = [];
    const base = await serve(async (request, response) => {
      const [, status, from] = request.url?.split('/') ?? [];
      if (from === undefined) {
        const type = request.headers['content-type'];
        asked.push([request.method, ...(type ? [type, await textOf(request)] : [])].join(' '));
        return response.end();
      }
      response.writeHead(Number(status), { location: '/there' }).end();
    });
    const { connections, close } = open(base);
    const went = async (method: string, status: number, body?: string) => {
      const headers = body === undefined ? undefined : { 'content-type': 'text/x' };
      const { status: came } = await connections.http('api').fetch(`${status}/from`, { method, body, headers });
      return came === 200 ? asked.pop() : came;
    };
    expect(await went('HEAD', 303)).toBe('HEAD');
    expect(await went('put', 303, 'x')).toBe('GET');
    expect(await went('POST', 302, 'x')).toBe('GET');
    expect(await went('PUT', 302, 'x')).toBe('PUT text/x x');
    expect(await went('POST', 307, 'x')).toBe('POST text/x x');
    expect(await went('GET', 300)).toBe(300);
    await close();
  });

  it('a server that hangs fails within timeoutMs, naming the connection and no secret', async () => {
    const base = await serve(() => undefined);
    const { connections, close } = open(base, { timeoutMs: 30 });
    const error = await connections
      .http('api')
      .fetch('x')
      .catch((thrown: Error) => thrown);
    expect(String(error)).toMatch(/connection "api": no answer within 30 ms/);
    expect(JSON.stringify(error)).not.toContain('s3cret');
    await close();
  });

  it('a body that stops in the middle fails within timeoutMs too, whoever reads it', async () => {
    const base = await serve((_request, response) => response.writeHead(200).write('{"choices":'));
    const { connections, models, close } = open(base, { timeoutMs: 200 });
    const api = connections.http('api');
    const stream = async () => {
      for await (const text of models.get('writer').stream([{ role: 'user', content: 'x' }])) expect(text).toBe('');
    };
    for (const reading of [
      api.json('x'),
      api.fetch('x').then((response) => response.text()),
      models.get('writer').ask('a', 'b'),
      stream(),
    ]) {
      await expect(reading).rejects.toMatchObject({
        code: 'CONNECTION_FAILED',
        message: 'connection "api": no answer within 200 ms',
      });
    }
    await close();
  });

  it('a body that its server resets fails by the connection, whoever reads it', async () => {
    const base = await serve((request, response) => {
      if (request.url === '/moved') return response.writeHead(302, { location: '/half' }).end();
      const size = { 'content-length': '100', 'x-kind': 'half' };
      return response.writeHead(203, 'Guessed', size).write('{"a":', () => response.destroy());
    });
    const { connections, close } = open(base);
    const api = connections.http('api');
    const reply = await api.fetch('moved');
    for (const one of [reply, reply.clone(), reply.clone().clone()]) {
      expect([one.status, one.statusText, one.url, one.redirected, one.headers.get('x-kind')]).toEqual([
        203,
        'Guessed',
        `${base}/half`,
        true,
        'half',
      ]);
    }
    expect(await api.fetch('x')).toBeInstanceOf(Response);
    expect((await api.fetch('x')).redirected).toBe(false);
    const pieces = async () => {
      for await (const piece of (await api.fetch('x')).body ?? [])
        expect(String(new TextDecoder().decode(piece))).toBe('{"a":');
    };
    for (const reading of [reply.text(), api.fetch('x').then((one) => one.json()), pieces(), api.json('x')]) {
      await expect(reading).rejects.toMatchObject({ code: 'CONNECTION_FAILED', message: /^connection "api": / });
    }
    await close();
  });

  it('a body that is not read, or not to its end, is given up with its reply', async () => {
    const left: Promise<void>[] = [];
    const base = await serve((_request, response) => void left.push(endless(response, 'x'.repeat(10_000))));
    const { connections, close } = open(base);
    const api = connections.http('api');
    await (await api.fetch('x')).body?.cancel();
    for await (const piece of (await api.fetch('x')).body ?? []) {
      expect(piece.length).toBeGreaterThan(0);
      break;
    }
    await Promise.all(left);
    await close();
  });

  it('an answer without an end is read as far as its limit and no further, packed or not', async () => {
    const left: Promise<void>[] = [];
    let head: [number, Record<string, string>] = [200, {}];
    let part: string | Buffer = '['.repeat(10_000);
    const base = await serve((_request, response) => {
      response.writeHead(...head);
      left.push(endless(response, part));
    });
    const { connections, close } = open(base, {}, 50_000);
    const { json } = connections.http('api');
    const message = /"api": the answer for x is larger than 50000 bytes \(limits\.outboundReplyBytes\)/;
    await expect(json('x')).rejects.toMatchObject({ code: 'CONNECTION_FAILED', message });
    head = [200, { 'content-encoding': 'gzip' }];
    part = gzipSync(Buffer.alloc(1_000_000));
    await expect(json('x')).rejects.toMatchObject({ message });
    head = [500, {}];
    part = 'no '.repeat(10_000);
    await expect(json('x')).rejects.toMatchObject({ message: /status 500 for x: no no/ });
    await Promise.all(left);
    await close();
  });

  it.each([
    [401, 'check the credentials'],
    [404, 'check the path, which is joined to the baseUrl'],
    [422, 'correct what is sent'],
    [429, 'ask later'],
    [503, 'look at the log of that server'],
  ])('an answer of status %s is told with what to do', async (status, told) => {
    const base = await serve((_request, response) => response.writeHead(status).end('no'));
    const { connections, models, close } = open(base);
    const fix = expect.stringContaining(told);
    await expect(connections.http('api').json('x')).rejects.toMatchObject({ code: 'CONNECTION_FAILED', fix });
    await expect(connections.http('api').json('x')).rejects.toMatchObject({ fix: /fetch gives answers of any status/ });
    await expect(models.get('writer').ask('a', 'b')).rejects.toMatchObject({ code: 'MODEL_FAILED', fix });
    await close();
  });

  it('no error shows a value of its variables, though the other side repeats it', async () => {
    const base = await serve((request, response) => response.writeHead(401).end(`no ${request.headers.authorization}`));
    const { connections, models, close } = open(base);
    await expect(connections.http('api').json('x')).rejects.toMatchObject({
      message: 'connection "api": status 401 for x: no Bearer {{KEY}}',
      details: { connection: 'api', remoteStatus: 401 },
    });
    await expect(models.get('writer').ask('a', 'b')).rejects.toMatchObject({
      message: 'model "writer": status 401: no Bearer {{KEY}}',
      details: { model: 'writer', remoteStatus: 401 },
    });
    await close();
    const broken = openConnections({
      connections: { api: { type: 'http', baseUrl: base, headers: { Authorization: 's3cret\ns3cret' } } },
      missing: {},
      models: {},
      values: { api: { KEY: 's3cret\ns3cret' } },
    });
    await expect(broken.connections.http('api').fetch('x')).rejects.toMatchObject({
      code: 'CONNECTION_FAILED',
      message: expect.not.stringContaining('s3cret'),
    });
    await broken.close();
  });

  it('no error shows a value where a log shows all of it, with what caused it', async () => {
    const base = await serve((request, response) => response.end(request.headers.authorization?.slice(7)));
    const { connections, models, close } = open(base, { headers: { Authorization: 'Bearer s3cret' } });
    const broken = open(base, { headers: { Authorization: 'a\ns3cret' } });
    for (const call of [
      () => connections.http('api').json('x'),
      () => models.get('writer').ask('a', 'b'),
      () => broken.connections.http('api').fetch('x'),
    ]) {
      const error = await call().catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: /_FAILED$/ });
      expect(inspect(error)).not.toContain('s3cret');
    }
    await close();
    await broken.close();
  });

  it('a server that is not there is told with what to check', async () => {
    const { connections, close } = open('http://127.0.0.1:1');
    await expect(connections.http('api').json('x')).rejects.toMatchObject({ fix: /check that the server runs/ });
    await close();
  });

  it('a call that its caller ends tells so, whatever the reason is', async () => {
    const ending = new AbortController();
    const base = await serve(() => ending.abort('enough'));
    const { connections, close } = open(base);
    await expect(connections.http('api').fetch('x', { signal: ending.signal })).rejects.toMatchObject({
      code: 'CONNECTION_FAILED',
      message: 'connection "api": the call was ended: enough',
    });
    await close();
  });

  it('takes a user and a password in its baseUrl', async () => {
    const base = await serve((request, response) => response.end(JSON.stringify(request.headers.authorization)));
    const { connections, close } = openConnections({
      connections: { api: { type: 'http', baseUrl: base.replace('//', '//ann:p%40ss@') } },
      missing: {},
      models: {},
    });
    const basic = `Basic ${Buffer.from('ann:p@ss').toString('base64')}`;
    expect(await connections.http('api').json('x')).toBe(basic);
    await close();
  });

  it('an unknown one and one left out are told apart', async () => {
    const { connections } = open('http://127.0.0.1:1');
    expect(() => connections.http('nope')).toThrow(/there is no connection "nope"/);
    expect(() => connections.http('later')).toThrow(/APP_LATER_KEY/);
    expect(() => connections.relational('api')).toThrow(/is of type http/);
    expect(connections.has('later')).toBe(false);
    expect(connections.has('constructor')).toBe(false);
    expect(() => connections.http('constructor')).toThrow(/there is no connection "constructor"/);
  });
});

describe('a graph connection', () => {
  const to = (grpcTarget: string) =>
    openConnections({ connections: { g: { type: 'graph', grpcTarget, timeoutMs: 600_000 } }, missing: {}, models: {} });
  const QUERY = '{ q(func: uid(1)) { uid } }';

  it('whose server is not there tells what to do', async () => {
    const nobody = to('127.0.0.1:1');
    await expect(nobody.connections.graph('g').query(QUERY)).rejects.toMatchObject({
      fix: /check that the server runs/,
    });
    await nobody.close();
  });

  it('refuses a variable that is no text, which its library would leave out', async () => {
    const nobody = to('127.0.0.1:1');
    const asked = nobody.connections.graph('g').query(QUERY, { $a: 'one', $b: ['two'] as never });
    await expect(asked).rejects.toMatchObject({
      code: 'INVALID_VALUE',
      message: 'the variable $b of query of connection "g" is no text',
    });
    await nobody.close();
  });

  it('whose caller ends a call tells so at once, and the server hears of it', async () => {
    const asIs = (bytes: Buffer) => bytes;
    const coded = {
      requestSerialize: asIs,
      requestDeserialize: asIs,
      responseSerialize: asIs,
      responseDeserialize: asIs,
    };
    const ending = new AbortController();
    const asked: Promise<void>[] = [];
    const Query: handleUnaryCall<Buffer, Buffer> = (call) => {
      asked.push(new Promise((cancelled) => call.on('cancelled', () => cancelled())));
      if (asked.length === 2) ending.abort(new Error('enough'));
    };
    const silent = new GrpcServer();
    const method = { path: '/api.Dgraph/Query', requestStream: false, responseStream: false, ...coded } as const;
    silent.addService({ Query: method }, { Query });
    const at = await new Promise<number>((done, failed) =>
      silent.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
        error ? failed(error) : done(bound),
      ),
    );
    const { connections, close } = to(`127.0.0.1:${at}`);
    const { signal } = ending;
    const told = {
      code: 'CONNECTION_FAILED',
      message: 'connection "g": the call was ended: enough',
      fix: 'what was under way may have been done or not',
    };
    const g = connections.graph('g');
    await Promise.all([
      expect(g.query(QUERY, {}, { signal })).rejects.toMatchObject(told),
      expect(g.mutate({ set: '_:a <name> "x" .' }, { signal })).rejects.toMatchObject(told),
    ]);
    await Promise.all(asked);
    await expect(g.upsert(QUERY, [], { signal })).rejects.toMatchObject(told);
    expect(asked).toHaveLength(2);
    await close();
    silent.forceShutdown();
  });

  it('that is not let in leaves no channel open, however often it is tried', async () => {
    const closed = vi.spyOn(dgraph.DgraphClientStub.prototype, 'close');
    const g = {
      type: 'graph',
      grpcTarget: 'dgraph://groot:wrong@127.0.0.1:1?sslmode=disable',
      timeoutMs: 30_000,
    } as const;
    const { connections, close } = openConnections({ connections: { g }, missing: {}, models: {} });
    for (let tries = 1; tries <= 2; tries++) {
      await expect(connections.graph('g').query('{ q(func: uid(1)) { uid } }')).rejects.toThrow(/connection "g"/);
      expect(closed).toHaveBeenCalledTimes(tries);
    }
    closed.mockRestore();
    await close();
  });
});

describe('a model', () => {
  it('answers in choices[0].message.content, with tokens and cost recorded', async () => {
    let body = '';
    const base = await serve(async (request, response) => {
      for await (const part of request) body += part;
      response.end(
        JSON.stringify({
          choices: [{ message: { role: 'assistant', content: 'hello' } }],
          usage: { prompt_tokens: 1000, completion_tokens: 500 },
        }),
      );
    });
    const records: CallRecord[] = [];
    onCall((record) => records.push(record));
    const { models, close } = open(base);
    const reply = await models.get('writer').ask('be brief', 'greet');
    expect(reply.choices[0].message.content).toBe('hello');
    expect(JSON.parse(body)).toMatchObject({
      model: 'tiny-1',
      messages: [
        { role: 'system', content: 'be brief' },
        { role: 'user', content: 'greet' },
      ],
    });
    expect(records.find((record) => record.kind === 'model')?.model).toEqual({
      name: 'writer',
      inputTokens: 1000,
      outputTokens: 500,
      cost: 0.004,
      messages: [
        { role: 'system', text: 'be brief' },
        { role: 'user', text: 'greet' },
        { role: 'assistant', text: 'hello' },
      ],
    });
    await close();
  });

  it('is sent what has no name among the options too; what has one wins', async () => {
    const sent: unknown[] = [];
    const yes = { role: 'assistant', content: 'yes' };
    const base = await serve(async (request, response) => {
      const asked = JSON.parse(await textOf(request)) as { stream?: boolean };
      sent.push(asked);
      if (!asked.stream) return response.end(JSON.stringify({ choices: [{ message: yes }] }));
      response.setHeader('content-type', 'text/event-stream');
      response.end(`data: ${JSON.stringify({ choices: [{ delta: yes, finish_reason: 'stop' }] })}\n\n`);
    });
    const { models, close } = open(base);
    const tool = { type: 'function', function: { name: 'look' } } as const;
    const body = { top_p: 0.5, stop: ['END'], model: 'other', stream: true, temperature: 2 };
    await models.get('writer').ask('a', 'b', { body, temperature: 1, tools: [tool], toolChoice: tool });
    expect(sent).toEqual([
      {
        model: 'tiny-1',
        messages: [expect.objectContaining({ role: 'system' }), expect.objectContaining({ role: 'user' })],
        top_p: 0.5,
        stop: ['END'],
        temperature: 1,
        tools: [tool],
        tool_choice: tool,
      },
    ]);
    for await (const _ of models.get('writer').stream([], { body: { seed: 7 } }));
    expect(sent[1]).toMatchObject({ seed: 7, stream: true });
    await close();
  });

  it('is shown an image in a message of parts, of which the record keeps that it was there', async () => {
    let sent: unknown;
    const base = await serve(async (request, response) => {
      sent = JSON.parse(await textOf(request));
      response.end('{"choices":[{"message":{"role":"assistant","content":"a cup"}}]}');
    });
    const { models, close } = open(base);
    const records: CallRecord[] = [];
    onCall((record) => records.push(record));
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } } as const;
    const messages: SentMessage[] = [
      { role: 'developer', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: 'What is it?' }, image] },
    ];
    await models.get('writer').chat(messages);
    expect(sent).toMatchObject({ messages });
    const told = records.find(({ kind }) => kind === 'model')?.model?.messages;
    expect(told?.map(({ text }) => text)).toEqual(['Be brief.', 'What is it?\n(image_url)', 'a cup']);
    await close();
  });

  it('streams pieces of text', async () => {
    const piece = (content: string) => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`;
    const base = await serve((_request, response) => {
      response.write(piece('one ').slice(0, 12));
      response.write(piece('one ').slice(12));
      response.end(`${piece('two')}data: [DONE]\n\n`);
    });
    const { models, close } = open(base);
    const pieces: string[] = [];
    const records: CallRecord[] = [];
    onCall((record) => records.push(record));
    for await (const text of models.get('writer').stream([{ role: 'user', content: 'count' }])) pieces.push(text);
    expect(pieces).toEqual(['one ', 'two']);
    expect(records.find((record) => record.kind === 'model')).toMatchObject({
      what: 'writer',
      ok: true,
      model: { messages: [{ text: 'count' }, { role: 'assistant', text: 'one two' }] },
    });
    await close();
  });

  const streamed = (deltas: readonly object[]) =>
    deltas.map((delta) => `data: ${JSON.stringify({ choices: [{ delta }] })}\n\n`).join('');
  const END =
    'data: {"choices":[{"delta":{},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":7}}\n\ndata: [DONE]\n\n';
  const part = (index?: number | null, id?: string | null, name?: string | null, args = '') => ({
    tool_calls: [{ index, id, function: { name, arguments: args } }],
  });

  it.each([
    ['by their places', [part(0, 'a', 'sum', '{"x'), part(1, 'b', 'age', '{}'), part(0, undefined, undefined, '":1}')]],
    [
      'by their places, with null for what was told',
      [part(0, 'a', 'sum', '{"x'), part(0, null, null, '":1}'), part(1, 'b', 'age', '{}')],
    ],
    [
      'one behind the other, with null for their places',
      [part(null, 'a', 'sum', '{"x":1}'), part(null, 'b', 'age', '{}')],
    ],
    ['one behind the other', [part(undefined, 'a', 'sum', '{"x":1}'), part(undefined, 'b', 'age', '{}')]],
    ['all at one place', [part(0, 'a', 'sum', '{"x":1}'), part(0, 'b', 'age', '{}')]],
  ])('tells its text as it comes, and gives the whole reply with tool calls told %s', async (_how, calls) => {
    const base = await serve((_request, response) => {
      response.end(streamed([{ content: 'Let me ' }, { content: 'see.' }, ...calls]) + END);
    });
    const { models, close } = open(base);
    const pieces: string[] = [];
    const onText = (piece: string) => void pieces.push(piece);
    const { choices, usage } = await models.get('writer').chat([{ role: 'user', content: 'x' }], { onText });
    expect(pieces).toEqual(['Let me ', 'see.']);
    expect(choices).toEqual([
      {
        finish_reason: 'tool_calls',
        message: {
          role: 'assistant',
          content: 'Let me see.',
          tool_calls: [
            { id: 'a', type: 'function', function: { name: 'sum', arguments: '{"x":1}' } },
            { id: 'b', type: 'function', function: { name: 'age', arguments: '{}' } },
          ],
        },
      },
    ]);
    expect(usage).toEqual({ prompt_tokens: 7 });
    await close();
  });

  it('a stream, which gives text only, fails where a tool is wanted', async () => {
    const base = await serve((_request, response) => {
      response.end(streamed([part(0, 'a', 'sum', '{}')]) + END);
    });
    const { models, close } = open(base);
    const read = async () => {
      for await (const text of models.get('writer').stream([{ role: 'user', content: 'x' }])) expect(text).toBe('');
    };
    const told = { code: 'MODEL_FAILED', message: /"sum" called/, fix: 'use chat with onText' };
    await expect(read()).rejects.toMatchObject(told);
    await close();
  });

  it('counts the tokens of a stream, also where the server will not be asked for them', async () => {
    const asked: unknown[] = [];
    let strict = false;
    const base = await serve(async (request, response) => {
      const { stream_options } = JSON.parse(await textOf(request)) as { stream_options?: unknown };
      asked.push(stream_options);
      if (strict && stream_options !== undefined) {
        response.writeHead(422).end('{"detail":"stream_options: extra fields are not permitted"}');
        return;
      }
      response.write(`data: ${JSON.stringify({ choices: [{ delta: { content: 'hi' } }], usage: null })}\n\n`);
      response.end(
        `data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 5 } })}\n\ndata: [DONE]\n\n`,
      );
    });
    const { models, close } = open(base);
    const records: CallRecord[] = [];
    onCall((record) => records.push(record));
    for (strict of [false, true]) {
      for await (const text of models.get('writer').stream([{ role: 'user', content: 'count' }])) {
        expect(text).toBe('hi');
      }
    }
    expect(asked).toEqual([{ include_usage: true }, { include_usage: true }, undefined]);
    const uses = records.filter(({ kind }) => kind === 'model').map(({ model }) => model);
    expect(uses).toMatchObject(Array(2).fill({ inputTokens: 3, outputTokens: 5, cost: 26e-6 }));
    await close();
  });

  it('an error in the middle of a stream names the model and what was said', async () => {
    const base = await serve((_request, response) =>
      response.end(
        `data: {"choices":[{"delta":{"content":"half"}}]}\n\ndata: {"error":{"message":"overloaded"}}\n\ndata: [DONE]\n\n`,
      ),
    );
    const { models, close } = open(base);
    const pieces: string[] = [];
    const read = async () => {
      for await (const text of models.get('writer').stream([{ role: 'user', content: 'x' }])) pieces.push(text);
    };
    await expect(read()).rejects.toMatchObject({ code: 'MODEL_FAILED', message: /"writer": .*overloaded/ });
    expect(pieces).toEqual(['half']);
    await close();
  });

  it('what is no stream is shown as it begins, without half of a value', async () => {
    let before = 0;
    const base = await serve((_request, response) => {
      response.write('.'.repeat(before));
      response.end('s3cret');
    });
    const { models, close } = open(base);
    const read = () => models.get('writer').chat([{ role: 'user', content: 'x' }], { onText: () => undefined });
    for (before = 150; before < 240; before++) await expect(read()).rejects.toThrow(/came back was text: \.+[^s]*$/);
    await close();
  });

  it('a stream goes on where its pieces say that there is no error, and shows no half of a value where there is one', async () => {
    let error: unknown = null;
    const base = await serve((_request, response) =>
      response.end(`data: ${JSON.stringify({ choices: [{ delta: { content: 'all' } }], error })}\n\ndata: [DONE]\n\n`),
    );
    const { models, close } = open(base);
    const read = async () => {
      const pieces: string[] = [];
      for await (const text of models.get('writer').stream([{ role: 'user', content: 'x' }])) pieces.push(text);
      return pieces;
    };
    expect(await read()).toEqual(['all']);
    for (let before = 150; before < 260; before++) {
      error = `${'.'.repeat(before)}s3cret`;
      await expect(read()).rejects.toThrow(/error: "\.+[^s]*$/);
    }
    await close();
  });

  it.each([
    [
      'a stream that ends between two pieces',
      'data: {"choices":[{"delta":{"content":"half"}}]}\n\n',
      ['half'],
      'ended before',
    ],
    [
      'a page that is no stream',
      '<html>sign in</html>',
      [],
      'asked for, and what came back was text: <html>sign in</html>',
    ],
    [
      'a whole reply',
      '{"choices":[{"message":{"content":"all"}}]}',
      [],
      'asked for, and what came back was text: {"choices":',
    ],
    ['nothing', '', [], 'asked for, and what came back was nothing'],
  ])('%s is no whole reply', async (_what, body, said, told) => {
    const base = await serve((_request, response) => response.end(body));
    const { models, close } = open(base);
    const pieces: string[] = [];
    const read = async () => {
      for await (const text of models.get('writer').stream([{ role: 'user', content: 'x' }])) pieces.push(text);
    };
    const message = expect.stringMatching(/^model "writer": /);
    await expect(read()).rejects.toMatchObject({ code: 'MODEL_FAILED', message });
    await expect(read()).rejects.toThrow(told);
    expect(pieces).toEqual([...said, ...said]);
    await close();
  });

  it('a stream is whole with its finish_reason, where the server says no more', async () => {
    const base = await serve((_request, response) =>
      response.end('data: {"choices":[{"delta":{"content":"all"},"finish_reason":"stop"}]}\n\n'),
    );
    const { models, close } = open(base);
    const pieces: string[] = [];
    for await (const text of models.get('writer').stream([{ role: 'user', content: 'x' }])) pieces.push(text);
    expect(pieces).toEqual(['all']);
    await close();
  });

  it('a reply or a stream without an end is read as far as its limit', async () => {
    const left: Promise<void>[] = [];
    const piece = `data: ${JSON.stringify({ choices: [{ delta: { content: '.'.repeat(900) } }] })}\n\n`;
    const base = await serve((_request, response) => void left.push(endless(response, piece)));
    const { models, close } = open(base, {}, 50_000);
    const writer = models.get('writer');
    const read = async () => {
      for await (const text of writer.stream([{ role: 'user', content: 'x' }])) expect(text).toHaveLength(900);
    };
    const message = /"writer": the reply is larger than 50000 bytes \(limits\.outboundReplyBytes\)/;
    await expect(read()).rejects.toMatchObject({ code: 'MODEL_FAILED', message });
    await expect(writer.ask('a', 'b')).rejects.toMatchObject({ code: 'MODEL_FAILED', message });
    await Promise.all(left);
    await close();
  });

  it('a reply that breaks off names the model', async () => {
    const base = await serve((_request, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('{"choices":', () => response.destroy());
    });
    const { models, close } = open(base);
    await expect(models.get('writer').ask('a', 'b')).rejects.toMatchObject({
      code: 'MODEL_FAILED',
      message: /"writer": the reply broke off/,
      fix: expect.stringContaining('ask again'),
    });
    await close();
  });

  it('a reply that is no JSON, lacks choices or is an error names the model', async () => {
    let reply = 'nonsense';
    let status = 200;
    const base = await serve((_request, response) => response.writeHead(status).end(reply));
    const { models, close } = open(base);
    const ask = () => models.get('writer').ask('a', 'b');
    await expect(ask()).rejects.toMatchObject({
      code: 'MODEL_FAILED',
      message: /"writer": the reply is not JSON/,
      fix: expect.stringContaining('path of the model in app.json'),
    });
    reply = '{}';
    await expect(ask()).rejects.toThrow(/choices\[0\]/);
    reply = '{"choices":[{"message":null}]}';
    await expect(ask()).rejects.toMatchObject({ code: 'MODEL_FAILED', message: /choices\[0\]/ });
    status = 500;
    await expect(ask()).rejects.toThrow(/status 500/);
    expect(() => models.get('painter')).toThrow(/no model "painter"/);
    await close();
  });

  it('a text that is not the JSON it was asked for names the model, and what to do', async () => {
    let choice: object = {};
    const base = await serve((_request, response) => response.end(JSON.stringify({ choices: [choice] })));
    const { models, close } = open(base);
    const jsonSchema = { name: 'mood', schema: { type: 'object' } };
    const ask = () => models.get('writer').ask('a', 'b', { jsonSchema });
    choice = { message: { role: 'assistant', content: '{"mood": "go' }, finish_reason: 'length' };
    await expect(ask()).rejects.toMatchObject({
      code: 'MODEL_FAILED',
      message: 'model "writer": the JSON that it was asked for is cut off: {"mood": "go',
      fix: 'raise maxTokens, or ask for less',
    });
    choice = { message: { role: 'assistant', content: 'I feel good, with s3cret.' }, finish_reason: 'stop' };
    await expect(ask()).rejects.toThrow(/not the JSON that it was asked for: I feel good, with {{KEY}}/);
    expect((await models.get('writer').ask('a', 'b')).choices[0].message.content).toContain('good');
    choice = { message: { role: 'assistant', content: null, refusal: 'no' } };
    expect((await ask()).choices[0].message.content).toBeNull();
    choice = { message: { role: 'assistant', content: '{"mood": "good"}' } };
    expect((await ask()).choices[0].message.content).toContain('mood');
    await close();
  });

  it('a streamed text that is not the JSON it was asked for is told in the end', async () => {
    const piece = (content: string, finish: string | null) =>
      `data: ${JSON.stringify({ choices: [{ delta: { content }, finish_reason: finish }] })}\n\n`;
    const base = await serve((_request, response) => {
      response.setHeader('content-type', 'text/event-stream');
      response.end(`${piece('{"mood"', null)}${piece(': "go', 'length')}data: [DONE]\n\n`);
    });
    const { models, close } = open(base);
    const told: string[] = [];
    const options = { jsonSchema: { name: 'mood', schema: {} }, onText: (text: string) => void told.push(text) };
    await expect(models.get('writer').ask('a', 'b', options)).rejects.toThrow(/is cut off/);
    expect(told.join('')).toBe('{"mood": "go');
    const all = async () => {
      for await (const _ of models.get('writer').stream([], { jsonSchema: options.jsonSchema }));
    };
    await expect(all()).rejects.toThrow(/is cut off/);
    await close();
  });
});
