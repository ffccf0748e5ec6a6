import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SignJWT } from 'jose';
import { describe, expect, it, vi } from 'vitest';
import { testFolder } from '../../test/folder.js';
import { startService } from '../../test/service.js';
import { callerOf, idempotencyKey } from './idempotency.js';

const token = (claims: Record<string, unknown>, header = 'authorization') => ({ claims, header });

describe('who asks', () => {
  it('is told by the API key, else by the subject of the token, else by nothing', () => {
    expect(callerOf({})).toBe('anyone');
    expect(callerOf({ 'x-api-key': 'one' })).toBe(callerOf({ authorization: 'Bearer one' }));
    expect(callerOf({ 'x-api-key': 'one' })).not.toBe(callerOf({ 'x-api-key': 'two' }));
    expect(callerOf({ 'x-api-key': 'one' })).not.toContain('one');
    expect(callerOf({}, token({ sub: 'ann' }))).not.toBe(callerOf({}, token({ sub: 'ben' })));
    expect(callerOf({}, token({ sub: 'ann' }))).not.toBe('anyone');
  });

  it('stays the same when the token is renewed', () => {
    const first = callerOf({ authorization: 'Bearer t1' }, token({ sub: 'ann', exp: 1, iat: 0 }));
    expect(callerOf({ authorization: 'Bearer t2' }, token({ sub: 'ann', exp: 9, iat: 8 }))).toBe(first);
    const nameless = callerOf({}, token({ USER: 'ann', ROLE: 'x', exp: 1 }));
    expect(callerOf({}, token({ ROLE: 'x', USER: 'ann', exp: 2 }))).toBe(nameless);
    expect(callerOf({}, token({ ROLE: 'x', USER: 'ben', exp: 2 }))).not.toBe(nameless);
  });

  it('tells users behind one API key apart', () => {
    const headers = { 'x-api-key': 'gateway' };
    const ann = callerOf(headers, token({ sub: 'ann' }, 'x-token'));
    expect(ann).not.toBe(callerOf(headers, token({ sub: 'ben' }, 'x-token')));
    expect(ann).not.toBe(callerOf({}, token({ sub: 'ann' }, 'x-token')));
  });
});

it('an idempotency key is bounded', () => {
  expect(idempotencyKey({ 'idempotency-key': '' })).toBeUndefined();
  expect(idempotencyKey({ 'idempotency-key': 'k' })).toBe('k');
  expect(() => idempotencyKey({ 'idempotency-key': 'k'.repeat(257) })).toThrow('longer than 256');
});

describe('a GraphQL mutation under an idempotency key', () => {
  const KEY = 'a key of at least thirty-two bytes, for HS256';
  const SDL = `type Entry { id: ID! text: String }
# Service.Authorization {"Header":"Authorization","Namespace":"https://x/claims","Algo":"HS256","VerificationKey":"${KEY}"}`;
  const token = (sub: string, n: number) =>
    new SignJWT({ sub, n }).setProtectedHeader({ alg: 'HS256' }).setExpirationTime('1h').sign(Buffer.from(KEY));

  it('happens once for each caller', async () => {
    const service = await startService();
    try {
      expect((await service.schema(SDL)).body.errors).toBeUndefined();
      const add = async (headers: Record<string, string>): Promise<string> => {
        const text = 'mutation { addEntry(input: [{text: "x"}]) { entry { id } } }';
        const { body } = await service.graphql(text, {}, { ...headers, 'idempotency-key': 'k' });
        return body.data.addEntry.entry[0].id;
      };
      const bearer = async (sub: string, n: number) => ({ authorization: `Bearer ${await token(sub, n)}` });
      const anyone = await add({});
      const first = await add({ 'x-api-key': 'one' });
      const ann = await add(await bearer('ann', 1));
      const ben = await add(await bearer('ben', 1));
      expect(new Set([anyone, first, ann, ben]).size).toBe(4);
      expect(await add({})).toBe(anyone);
      expect(await add({ 'x-api-key': 'one' })).toBe(first);
      expect(await add(await bearer('ann', 2))).toBe(ann);
      const long = { 'idempotency-key': 'k'.repeat(257) };
      const { body } = await service.graphql('mutation { addEntry(input: [{}]) { numUids } }', {}, long);
      expect(body.errors[0].extensions.code).toBe('INVALID_REQUEST');
    } finally {
      await service.close();
    }
  });
});

it('a mutation of the graph language under a key happens once where it commits, and is refused where it does not', async () => {
  const service = await startService();
  try {
    const mutate = (parameters: string) =>
      service.post(`/mutate${parameters}`, '{ set { _:a <name> "x" . } }', 'application/rdf', {
        'idempotency-key': 'k',
      });
    const [first, ...others] = await Promise.all([1, 2, 3].map(() => mutate('?commitNow=true')));
    const { start_ts, commit_ts } = first.body.extensions.txn;
    expect(commit_ts).toBeGreaterThan(start_ts);
    for (const other of [...others, await mutate('?commitNow=true')]) expect(other.body).toEqual(first.body);
    expect(await service.data('{ q(func: has(name)) { uid } }')).toEqual({ q: [{ uid: first.body.data.uids.a }] });
    const open = await service.rdf('{ set { _:a <name> "y" . } }', '');
    const refused = { status: 400, body: { errors: [{ extensions: { code: 'INVALID_REQUEST' } }] } };
    for (const parameters of ['', `?startTs=${open.body.extensions.txn.start_ts}`]) {
      expect(await mutate(parameters)).toMatchObject(refused);
    }
  } finally {
    await service.close();
  }
});

it('a mutation with many new nodes tells all of them, the second time too', async () => {
  const service = await startService();
  try {
    const names = Array.from({ length: 3_000 }, (_, i) => `n${i}`);
    const text = `{ set { ${names.map((name) => `_:${name} <name> "${name}" .`).join('\n')} } }`;
    const headers = { 'idempotency-key': 'many' };
    const [first, second] = [1, 2].map(() => service.post('/mutate?commitNow=true', text, 'application/rdf', headers));
    const { uids } = (await first).body.data;
    expect(Object.keys(uids)).toEqual(names);
    expect((await second).body.data.uids).toEqual(uids);
    const told = await service.data(`{ q(func: uid(${uids['n0']}, ${uids['n2999']})) { name } }`);
    expect(told).toEqual({ q: [{ name: 'n0' }, { name: 'n2999' }] });
  } finally {
    await service.close();
  }
});

it('a mutation of the graph language that runs into the same request is answered what that was answered', async () => {
  const service = await startService();
  try {
    await service.alter('email: string @index(exact) @unique .');
    const mutate = (key: string) =>
      service.post('/mutate?commitNow=true', '{ set { _:a <email> "x" . } }', 'application/rdf', {
        'idempotency-key': key,
      });
    const first = await mutate('k');
    expect((await mutate('other')).body.errors[0].extensions.code).toBe('UNIQUE_VIOLATION');
    // the second looked before the first had landed
    vi.spyOn(service.service.core.committer, 'idempotentCommit').mockResolvedValueOnce(undefined);
    expect((await mutate('k')).body).toEqual(first.body);
  } finally {
    await service.close();
  }
});

it('a function under a key starts and tells once, and each of its calls in a request counts for itself', async () => {
  const appDir = testFolder();
  mkdirSync(join(appDir, 'functions'));
  writeFileSync(
    join(appDir, 'functions/bell.ts'),
    `import { Agent, agents } from 'graphstead/app';
    class Bell extends Agent<{ rung: number }> {
      state = { rung: 0 };
      onReceiveMessage(): string { return String(++this.state.rung); }
    }
    agents.register(Bell);
    export async function makeBell(): Promise<string> { return (await agents.start('Bell')).id; }
    export async function ring(id: string): Promise<string | null> { return agents.sendMessage(id, 'ring'); }`,
  );
  const service = await startService({ appDir });
  try {
    const ask = async (text: string, variables = {}, key = 'k') =>
      (await service.graphql(text, variables, { 'idempotency-key': key })).body.data;
    const made = await ask('mutation { one: makeBell two: makeBell }');
    expect(made.one).not.toBe(made.two);
    expect(await ask('mutation { one: makeBell two: makeBell }')).toEqual(made);
    const twice = 'mutation ($id: String!) { a: ring(id: $id) b: ring(id: $id) }';
    expect(await ask(twice, { id: made.one })).toEqual({ a: '1', b: '2' });
    expect(await ask(twice, { id: made.one })).toEqual({ a: '1', b: '2' });
    expect(await ask(twice, { id: made.one }, 'another')).toEqual({ a: '3', b: '4' });
  } finally {
    await service.close();
  }
});
