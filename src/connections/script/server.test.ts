import { expect, it } from 'vitest';
import { openConnections } from '../host.js';
import { openScripts, type Scripts } from './index.js';

async function scripted(scripts: Scripts) {
  const opened = await openScripts(scripts);
  const connections = { api: { type: 'http', baseUrl: 'http://api.example' } } as const;
  const models = { writer: { sourceModel: 'tiny-1', connection: 'api', path: 'chat' } };
  const client = openConnections(opened.redirect({ connections, missing: {}, models }));
  const close = async () => {
    await client.close();
    await opened.close();
  };
  return { ...client, close };
}

it('tells a Response that a script gives twice, and does not end the process', async () => {
  const shared = Response.json({ degrees: 3 });
  const { connections, close } = await scripted({ http: { api: () => shared } });
  expect(await connections.http('api').json('now')).toEqual({ degrees: 3 });
  await expect(connections.http('api').json('now')).rejects.toThrow(/status 500 for now: Body/);
  await close();
});

it('tells a message of a script that no stream can be made of', async () => {
  const broken = { role: 'assistant', content: 'x', tool_calls: [{ id: 'a', type: 'function', function: {} }] };
  const { models, close } = await scripted({ models: { writer: [broken as never] } });
  const asked = models.get('writer').chat([{ role: 'user', content: 'x' }], { onText: () => undefined });
  await expect(asked).rejects.toMatchObject({ code: 'MODEL_FAILED', details: { remoteStatus: 500 } });
  await close();
});

it('stands in for what is scripted alone, also where a connection has a name that every object has', async () => {
  const opened = await openScripts({ http: { api: [1] }, relational: { db: [] } });
  const connections = {
    constructor: { type: 'http', baseUrl: 'http://own.example' },
    toString: { type: 'relational', connStr: 'postgres://own.example/db' },
    api: { type: 'http', baseUrl: 'http://api.example' },
  } as const;
  const redirected = opened.redirect({ connections, missing: {}, models: {} }).connections;
  expect(redirected).toMatchObject({ constructor: connections.constructor, toString: connections.toString });
  expect(redirected.api).toMatchObject({ baseUrl: expect.stringContaining('127.0.0.1') });
  await opened.close();
});

it('answers for a connection that has such a name', async () => {
  const opened = await openScripts({ http: { constructor: [{ degrees: 3 }] } });
  const connections = { constructor: { type: 'http', baseUrl: 'http://own.example' } } as const;
  const client = openConnections(opened.redirect({ connections, missing: {}, models: {} }));
  expect(await client.connections.http('constructor').json('now')).toEqual({ degrees: 3 });
  await client.close();
  await opened.close();
});
