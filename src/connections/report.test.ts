import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createCallLog } from './call-log.js';
import { readConfig } from './config.js';
import { reach, reportConnections } from './report.js';

const config = readConfig(
  JSON.stringify({
    models: { analyst: { sourceModel: 'm', connection: 'api' } },
    connections: {
      api: {
        type: 'http',
        baseUrl: 'https://api.example/',
        headers: { Authorization: 'Bearer {{KEY}}' },
        optional: true,
      },
      db: { type: 'relational', connStr: '{{DATABASE_URL}}' },
      graph: { type: 'graph', grpcTarget: '{{TARGET}}' },
    },
  }),
);

describe('what is told of connections', () => {
  it('names variables and addresses, and no secret', () => {
    const environment = {
      APP_DB_DATABASE_URL: 'postgres://me:hidden@db.example/x?password=hidden',
      APP_API_KEY: 'hidden',
    };
    const { connections, models } = reportConnections(config, environment);
    expect(connections).toEqual([
      {
        name: 'api',
        kind: 'http',
        optional: true,
        address: 'api.example:443',
        variables: [{ name: 'APP_API_KEY', set: true }],
      },
      {
        name: 'db',
        kind: 'relational',
        optional: false,
        address: 'db.example:5432',
        variables: [{ name: 'APP_DB_DATABASE_URL', set: true }],
      },
      { name: 'graph', kind: 'graph', optional: false, variables: [{ name: 'APP_GRAPH_TARGET', set: false }] },
    ]);
    expect(models[0]).toMatchObject({ name: 'analyst', connection: 'api', path: 'v1/chat/completions' });
    expect(JSON.stringify({ connections, models })).not.toContain('hidden');
  });

  it.each([
    ['https://play.example:443', 'play.example:443'],
    ['https://play.example', 'play.example:443'],
    ['dgraph://me:hidden@play.example:9080?sslmode=require', 'play.example:9080'],
    ['[::1]:9080', '::1:9080'],
  ])('shows the address that the client of a graph at %s goes to', (target, address) => {
    const { connections } = reportConnections(config, { APP_GRAPH_TARGET: target });
    expect(connections[2]).toMatchObject({ name: 'graph', address });
  });

  it('says whether an address is reached, and why not', async () => {
    const server = createServer((socket) => socket.end());
    const port = await new Promise<number>((resolve) =>
      server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port)),
    );
    const environment = { APP_GRAPH_TARGET: `127.0.0.1:${port}` };
    expect(await reach('graph', config, environment)).toMatchObject({ reachable: true });
    await new Promise((closed) => server.close(closed));
    expect(await reach('graph', config, environment)).toMatchObject({
      reachable: false,
      reason: `nothing listens on 127.0.0.1:${port}`,
    });
    expect(await reach('db', config, {})).toMatchObject({ reachable: false });
  });
});

describe('the call log', () => {
  it('keeps the last calls and sums all of them', () => {
    const log = createCallLog({ kept: 2 });
    const call = { connection: 'api', kind: 'model', what: 'analyst', startedAt: 0, ms: 5 } as const;
    log.add({ ...call, ok: true, model: { name: 'analyst', inputTokens: 3, outputTokens: 4, cost: 0.5 } });
    log.add({ ...call, ok: false, error: 'no' });
    log.add({ connection: 'db', kind: 'relational', what: 'select', startedAt: 1, ms: 1, ok: true });
    expect(log.recent().map(({ connection }) => connection)).toEqual(['db', 'api']);
    expect(log.models()).toEqual({
      analyst: { calls: 2, failed: 1, ms: 10, inputTokens: 3, outputTokens: 4, cost: 0.5 },
    });
    expect(log.connections()).toMatchObject({ db: { calls: 1, failed: 0 } });
  });

  it('keeps what was said to models only where it is shown', () => {
    const messages = [{ role: 'user', text: 'private' }];
    const model = { name: 'analyst', inputTokens: 3, outputTokens: 4, messages };
    const call = { connection: 'api', kind: 'model', what: 'analyst', startedAt: 0, ms: 5, ok: true, model } as const;
    const [plain, shown] = [createCallLog(), createCallLog({ messages: true })];
    for (const log of [plain, shown]) log.add(call);
    expect(plain.recent()[0].model).toEqual({ name: 'analyst', inputTokens: 3, outputTokens: 4 });
    expect(shown.recent()[0].model?.messages).toEqual(messages);
  });
});
