// Subscriptions by the client of graphql-ws, which Apollo, urql and Relay use, and readers that do not keep up.
import { mkdirSync, writeFileSync } from 'node:fs';
import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { scratch } from '../cli/command.js';
import { startService, type TestService } from '../service.js';
import { TestSocket } from '../web-socket.js';

const APP = `
import { Agent, agents } from 'graphstead/app';
export class Teller extends Agent {
  override onReceiveMessage(name: string, data?: string): void { this.publishEvent(name, { text: 'long '.repeat(Number(data)) }); }
}
agents.register(Teller);
export async function startTeller(): Promise<string> { return (await agents.start('Teller')).id; }
export async function tell(id: string, name: string, words: number): Promise<void> { await agents.sendMessage(id, name, String(words)); }
`;

const folder = scratch();
let s: TestService;
let id: string;
beforeAll(async () => {
  const appDir = folder.path('app');
  mkdirSync(`${appDir}/functions`, { recursive: true });
  writeFileSync(`${appDir}/functions/index.ts`, APP);
  s = await startService({ appDir });
  id = (await s.graphql('mutation { startTeller }')).body.data.startTeller;
});
afterAll(async () => {
  await s.close();
  folder.remove();
});

const tell = (name: string, words = 1) =>
  s.graphql('mutation ($id: String!, $name: String!, $words: Float!) { tell(id: $id, name: $name, words: $words) }', {
    id,
    name,
    words,
  });
const EVENTS =
  'subscription ($id: String, $after: String) { agentEvent(agentId: $id, after: $after) { name data timestamp } }';

interface Told {
  readonly data?: { readonly agentEvent: { readonly name: string } } | null;
  readonly extensions?: { readonly eventId?: string };
}

describe("graphql-ws's client", () => {
  const clientOf = () =>
    createClient({ url: `${s.url.replace('http', 'ws')}/graphql`, webSocketImpl: WebSocket, retryAttempts: 0 });

  it("hands out an agent's events, and goes on behind the last one that it had", async () => {
    const client = clientOf();
    const listen = (after: string | undefined) =>
      client.iterate({ query: EVENTS, variables: { id, after } }) as AsyncIterableIterator<Told>;
    await tell('first');
    await tell('second');
    const before = listen('0');
    const had: Told = (await before.next()).value;
    expect(had.data?.agentEvent.name).toBe('first');
    await before.return?.();
    const behind = listen(had.extensions?.eventId);
    const heard: Told = (await behind.next()).value;
    expect(heard.data?.agentEvent.name).toBe('second');
    await tell('third');
    expect((await behind.next()).value).toMatchObject({ data: { agentEvent: { name: 'third' } } });
    await behind.return?.();
    await client.dispose();
  });

  it('asks and changes by the same connection, and throws what is refused', async () => {
    const client = clientOf();
    const ask = async (query: string) =>
      (await (client.iterate({ query }) as AsyncIterableIterator<Told>).next()).value;
    expect(await ask('{ __typename }')).toMatchObject({ data: { __typename: 'Query' } });
    expect(await ask('mutation { startTeller }')).toMatchObject({ data: { startTeller: expect.any(String) } });
    await expect(ask('{ nothing }')).rejects.toMatchObject([{ extensions: { code: 'INVALID_GRAPHQL' } }]);
    await client.dispose();
  });
});

it('keeps all events, in order, for a client that does not read for a while, and delays nobody', async () => {
  const slow = await TestSocket.open(s.url);
  await slow.greet();
  await tell('begin');
  slow.say({ id: '1', type: 'subscribe', payload: { query: EVENTS, variables: { id, after: '0' } } });
  await slow.hear();
  slow.socket.pause();
  const names = Array.from({ length: 30 }, (_, i) => `event_${i}`);
  for (const name of names) await tell(name, 50_000);
  const quick = await TestSocket.open(s.url);
  await quick.greet();
  expect(await quick.ask('{ __typename }')).toMatchObject({ type: 'next' });
  slow.socket.resume();
  const heard: (string | undefined)[] = [];
  while (heard.at(-1) !== names.at(-1)) {
    const { payload } = (await slow.hear()) as { payload: Told };
    heard.push(payload.data?.agentEvent.name);
  }
  expect(heard.slice(-names.length)).toEqual(names);
  slow.socket.terminate();
  quick.socket.terminate();
});
