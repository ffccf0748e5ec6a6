import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sharedFolder } from '../folder.js';
import { startApp, type TestApp } from '../../src/testing.js';
import { type Remote, startRemote } from '../remote.js';
import { TOKEN_KEY, tokenOf } from '../token.js';

// It starts processes: on a busy machine each takes its time.
const TYPES = `
# Service.Authorization {"Header": "X-Auth", "Namespace": "app", "Algo": "HS256", "VerificationKey": "${TOKEN_KEY}", "ClosedByDefault": true}
type Draft @auth(
  query: { rule: "query ($USER: String!) { queryDraft(filter: { owner: { eq: $USER } }) { id } }" }
  add: { rule: "{$ROLE: { eq: \\"EDITOR\\" } }" }
) { id: ID! owner: String! @search(by: [hash]) }
type Shelf { name: String! @id drafts: [Draft] }
type Query { said: String @custom(http: { url: "$REMOTE/said", method: GET, forwardHeaders: ["X-Auth"] }) }
`;
const FUNCTIONS = `
import { Agent, agents, graph } from 'graphstead/app';
const LIST = '{ queryDraft(order: { asc: owner }) { owner } }';
const ADD = 'mutation ($owner: String!) { addDraft(input: [{ owner: $owner }]) { draft { owner } } }';
type Who = 'app' | 'caller';
const as = (who: Who) => (who === 'caller' ? { as: who } : undefined);
const text = (value: unknown): string => JSON.stringify(value);
export async function listDrafts(who: Who): Promise<string> { return text(await graph.graphql(LIST, undefined, as(who))); }
export async function addDraftFor(owner: string, who: Who): Promise<string> { return text(await graph.graphql(ADD, { owner }, as(who))); }
export async function fillShelf(): Promise<string> {
  return text(await graph.graphql('mutation { addShelf(input: [{ name: "s", drafts: [{ owner: "eve" }, { owner: "kim" }] }]) { numUids } }'));
}
export async function clear(): Promise<string> {
  return text(await graph.graphql('mutation { deleteShelf(filter: {}) { msg } deleteDraft(filter: {}) { msg } }'));
}
export async function getSaid(who: Who): Promise<string> { return text(await graph.graphql('{ said }', undefined, as(who))); }
export async function listShelf(): Promise<string> { return text(await graph.graphql('{ queryShelf { drafts { owner } } }')); }
export async function addTwo(who: Who): Promise<string> {
  return graph.transaction(async (txn) => {
    await txn.graphql(ADD, { owner: 'ann' }, as(who));
    return text(await txn.graphql(LIST, undefined, as(who)));
  });
}
export class Clerk extends Agent {
  override async onReceiveMessage(name: string): Promise<string> {
    return text(await graph.graphql(LIST, undefined, as(name as Who)));
  }
}
agents.register(Clerk);
export async function askClerk(who: Who): Promise<string> {
  const { id } = await agents.start(Clerk);
  return (await agents.sendMessage(id, who)) ?? '';
}
`;

const folder = sharedFolder();
let app: TestApp;
let remote: Remote;

beforeAll(async () => {
  mkdirSync(join(folder, 'functions'));
  remote = await startRemote();
  writeFileSync(join(folder, 'schema.graphql'), TYPES.replace('$REMOTE', remote.url));
  writeFileSync(join(folder, 'functions', 'index.ts'), FUNCTIONS);
  app = await startApp({ appDir: folder });
});
beforeEach(async () => {
  await run('mutation', 'clear');
  for (const owner of ['ann', 'bob']) await run('mutation', `addDraftFor(owner: "${owner}", who: app)`);
});
afterAll(async () => {
  await app.close();
  await remote.close();
});

/** What a function gives to whoever has these claims; it needs some, since all is closed by default. */
async function run(kind: 'query' | 'mutation', call: string, claims: Record<string, string> = { USER: 'ann' }) {
  const answer = await app.graphql<Record<string, string>>(
    `${kind} { told: ${call} }`,
    undefined,
    await tokenOf(claims),
  );
  return JSON.parse(answer['told']) as unknown;
}

describe('rules of @auth in app code', () => {
  it('do not hold for the app itself, in functions, transactions and turns', async () => {
    const all = { queryDraft: [{ owner: 'ann' }, { owner: 'bob' }] };
    expect(await run('query', 'listDrafts(who: app)')).toEqual(all);
    expect(await run('mutation', 'askClerk(who: app)')).toEqual(all);
    expect(await run('mutation', 'addTwo(who: app)')).toEqual({ queryDraft: [{ owner: 'ann' }, ...all.queryDraft] });
  });

  it('hold as for the caller where a function asks as the caller', async () => {
    const bobs = { queryDraft: [{ owner: 'bob' }] };
    expect(await run('query', 'listDrafts(who: caller)', { USER: 'bob' })).toEqual(bobs);
    const refused = run('mutation', 'addTwo(who: caller)', { USER: 'bob' });
    await expect(refused).rejects.toMatchObject({
      errors: [{ code: 'FORBIDDEN', message: expect.stringContaining('authorization failed') }],
    });
    expect(await run('mutation', 'addTwo(who: caller)', { USER: 'bob', ROLE: 'EDITOR' })).toEqual(bobs);
  });

  it('hold for everybody else as before, whatever the app asked in the same words', async () => {
    const ask = '{ queryShelf { drafts { owner } } }';
    await run('mutation', 'fillShelf');
    const both = [{ owner: 'eve' }, { owner: 'kim' }];
    for (let i = 0; i < 2; i++) {
      expect(await run('query', 'listShelf')).toEqual({ queryShelf: [{ drafts: expect.arrayContaining(both) }] });
      const kims = await app.graphql(ask, undefined, await tokenOf({ USER: 'kim' }));
      expect(kims).toEqual({ queryShelf: [{ drafts: [{ owner: 'kim' }] }] });
      await expect(app.graphql(ask)).rejects.toThrow('JWT');
    }
  });

  it('leave the headers of a request behind, which a remote is sent where a client asks it', async () => {
    remote.on('/said', ({ headers }) => ({
      body: JSON.stringify(headers['x-auth'] === undefined ? 'no token' : 'a token'),
    }));
    expect(await app.graphql('{ said }', undefined, await tokenOf({ USER: 'ann' }))).toEqual({ said: 'a token' });
    for (const who of ['app', 'caller'])
      expect(await run('query', `getSaid(who: ${who})`)).toEqual({ said: 'no token' });
  });

  it('an agent has no caller to ask as', async () => {
    await expect(run('mutation', 'askClerk(who: caller)')).rejects.toThrow("an agent's turn has no caller");
  });
});
