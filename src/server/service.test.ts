import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { testFolder } from '../../test/folder.js';
import { openService } from './service.js';

const quiet = { port: 0, logLevel: 'silent', environment: {} };

describe('the service', () => {
  it('takes limits from app.json, and names one that does not exist', async () => {
    const appDir = testFolder();
    writeFileSync(join(appDir, 'app.json'), '{ "limits": { "nestingDepth": 7 } }');
    const service = await openService({ ...quiet, appDir });
    expect(service.core.limits.nestingDepth).toBe(7);
    await service.close();
    writeFileSync(join(appDir, 'app.json'), '{ "limits": { "nestingDeph": 7 } }');
    await expect(openService({ ...quiet, appDir })).rejects.toMatchObject({
      errors: [{ code: 'CONFIG', message: /app.json:1:30: .*nestingDeph/ }],
    });
  });

  it('tells the admin API where it listens, since when, and what it is', async () => {
    const service = await openService({ ...quiet, version: '1.2.3' });
    const query = `{ health { status version uptime address ee_features }
      state { groups { id members { id addr leader amDead } tablets { predicate groupId readOnly } } zeros { id } } }`;
    const reply = await fetch(`${service.url}/admin`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    });
    const addr = new URL(service.url).host;
    expect(await reply.json()).toMatchObject({
      data: {
        health: [{ status: 'healthy', version: '1.2.3', uptime: expect.any(Number), address: addr, ee_features: [] }],
        state: { groups: [{ id: '1', members: [{ id: '1', addr, leader: true, amDead: false }] }], zeros: [] },
      },
    });
    await service.close();
  });

  it('has been up for as long as it was, however the clock of the machine is set meanwhile', async () => {
    let [wall, monotonic] = [1_800_000_000_000, 5_000];
    const clock = { wall: () => wall, monotonic: () => monotonic };
    const service = await openService({ ...quiet, clock });
    wall -= 7_200_000;
    monotonic += 42_000;
    const reply = await fetch(`${service.url}/health`);
    expect(await reply.json()).toMatchObject([{ uptime: 42 }]);
    await service.close();
  });

  it('tells a request that comes while it stops so, in words that every client reads', async () => {
    const service = await openService(quiet);
    const { host, port } = new URL(service.url);
    const socket = connect(Number(port), '127.0.0.1');
    // one that has begun holds its connection open
    socket.write(`GET /health HTTP/1.1\r\nhost: ${host}\r\n\r\nGET /graphql HTTP/1.1\r\nhost: ${host}\r\n`);
    await once(socket, 'data');
    const closing = service.close();
    const isUp = async () => await fetch(service.url).then(Boolean, () => false);
    await expect.poll(isUp).toBe(false);
    socket.write('origin: https://elsewhere.example\r\n\r\n');
    const [head, body] = (await text(socket)).split('\r\n\r\n');
    expect(JSON.parse(body ?? '')).toMatchObject({ errors: [{ extensions: { code: 'NOT_READY' } }] });
    expect(head).toMatch(/^HTTP\/1\.1 503 /);
    // a page may read it too
    expect(head).toMatch(/connection: close/i);
    expect(head).toMatch(/access-control-allow-origin: \*/i);
    await closing;
  });

  it('tells a connection on which nothing has come why nothing will be begun', async () => {
    const service = await openService(quiet);
    const { port } = new URL(service.url);
    const socket = connect(Number(port), '127.0.0.1');
    await once(socket, 'connect');
    const closing = service.close();
    const [head, body] = (await text(socket)).split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 503 [\s\S]*x-graphstead-stopping: 1/);
    expect(JSON.parse(body ?? '')).toMatchObject({ errors: [{ extensions: { code: 'NOT_READY' } }] });
    await closing;
  });

  it('answers queries to the admin API by GET, and no mutation; counts what it served for the probe', async () => {
    const service = await openService(quiet);
    const get = async (query: string) => {
      const reply = await fetch(`${service.url}/admin?${new URLSearchParams({ query })}`);
      return { status: reply.status, body: (await reply.json()) as unknown };
    };
    const count = async () => {
      const reply = await fetch(`${service.url}/probe/graphql`);
      return ((await reply.json()) as { schemaUpdateCounter: number }).schemaUpdateCounter;
    };
    const before = await count();
    await service.core.api.updateSchema('type City { name: String }');
    expect(await count()).toBe(before + 1);
    expect(await get('{ getGQLSchema { schema } }')).toEqual({
      status: 200,
      body: { data: { getGQLSchema: { schema: 'type City { name: String }' } } },
    });
    const update = 'mutation { updateGQLSchema(input: {set: {schema: "type T { n: Int }"}}) { gqlSchema { id } } }';
    expect(await get(update)).toMatchObject({
      status: 405,
      body: { errors: [{ extensions: { code: 'METHOD_NOT_ALLOWED' } }] },
    });
    expect(service.core.api.current()?.text).toBe('type City { name: String }');
    await service.close();
  });

  it('warns at its start where the disk has no room for writes', async () => {
    const data = testFolder();
    const opened = { ...quiet, data, limits: { diskReserve: 2 ** 52 } };
    const service = await openService(opened);
    expect(service.warnings).toEqual([
      expect.stringMatching(/^nothing can be written: \d+ bytes are free for .*reserve/i),
    ]);
    await service.close();
    const roomy = await openService({ ...opened, limits: { diskReserve: 1 } });
    expect(roomy.warnings).toEqual([]);
    await roomy.close();
  });

  it('warns at its start where open transactions could hold every snapshot of the store', async () => {
    const data = testFolder();
    const of = async (limits: object) => {
      const service = await openService({ ...quiet, data, limits: { diskReserve: 1, ...limits } });
      await service.close();
      return service.warnings;
    };
    expect(await of({ readers: 100 })).toEqual([
      expect.stringMatching(/limits\.readers is 100, limits\.transactions 512/),
    ]);
    expect(await of({ readers: 100, transactions: 50 })).toEqual([]);
    expect(await of({})).toEqual([]);
  });

  it('says which flag moves it from a port that is taken; in dev a busy gRPC port is a warning', async () => {
    const holder = createServer();
    await new Promise<void>((done) => holder.listen(0, '127.0.0.1', done));
    const { port } = holder.address() as AddressInfo;
    await expect(openService({ ...quiet, port })).rejects.toMatchObject({ code: 'CONFIG', fix: /--port/ });
    await expect(openService({ ...quiet, grpcPort: port })).rejects.toMatchObject({
      code: 'CONFIG',
      fix: /--grpc-port/,
    });
    const elsewhere = { ...quiet, host: 'nowhere.invalid', environment: { GRAPHSTEAD_API_KEYS: 'k' } };
    for (const ports of [{}, { grpcPort: 0 }]) {
      await expect(openService({ ...elsewhere, ...ports })).rejects.toMatchObject({
        message: /"nowhere.invalid" is no address of this machine/,
        fix: /--host/,
      });
    }
    const service = await openService({ ...quiet, grpcPort: port, dev: true });
    expect(service.warnings.join()).toMatch(/--grpc-port/);
    expect(service.grpcPort).toBeUndefined();
    await service.close();
    await new Promise((done) => holder.close(done));
  });
});
