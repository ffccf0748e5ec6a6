// Handlers that clients may ask for by themselves: no function stands between.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sharedFolder } from '../folder.js';
import { startService, type TestService } from '../service.js';
import { TOKEN_KEY, tokenOf } from '../token.js';

const TYPES = `# Service.Authorization {"Header": "X-Auth", "Namespace": "app", "Algo": "HS256", "VerificationKey": "${TOKEN_KEY}"}
type Note @auth(query: { rule: "query ($USER: String!) { queryNote(filter: { owner: { eq: $USER } }) { id } }" }) {
  id: ID!
  owner: String! @search(by: [hash])
}`;
const APP = `
import { Agent, agents, caller, graph, type Int } from 'graphstead/app';
export interface Stop { place: string; tags?: string[] }
abstract class Moving extends Agent<{ stops: Stop[] }> {
  override state = { stops: [] as Stop[] };
  /**
   * Moves it on.
   * @mutation
   * @param stop - where to
   */
  moveTo(stop: Stop, times: Int = 1): Int {
    for (let i = 0; i < times; i++) this.state.stops.push(stop);
    return this.state.stops.length as Int;
  }
}
export class Parcel extends Moving {
  static readonly agentName = 'Parcel';
  static readonly handlers = ['moveTo', 'where', 'fail', 'lose', 'told', 'who', 'mine', 'hidden', 'again'] as const;
  static readonly readOnly = ['where'];
  /** @query */
  where(): Stop | null { return this.state.stops.at(-1) ?? null; }
  /** @mutation */
  fail(): void { this.state.stops.push({ place: 'nowhere' }); throw Object.assign(new Error('it is sealed'), { extensions: { seal: 7 } }); }
  /** @mutation */
  lose(): void { this.state.stops.pop(); }
  /** @mutation */
  told(first?: string, second: string = 'none', third?: string | null): string { return JSON.stringify([first === undefined, second, third]); }
  /** @mutation */
  who(): string { return String(caller.claims?.['USER']); }
  /** @mutation */
  async mine(): Promise<string> { return JSON.stringify(await graph.graphql('{ queryNote { owner } }', undefined, { as: 'caller' })); }
  hidden(): string { return 'seen'; }
  /** @mutation */
  async again(how: string): Promise<string> {
    return JSON.stringify(await graph.graphql(\`mutation { told: \${how}(\${how === 'parcelAgain' ? 'how: "x", agentId' : 'id'}: "\${this.id}") }\`));
  }
}
export class Truck extends Moving {
  static readonly handlers = ['moveTo'] as const;
}
agents.register(Parcel, Truck);
export async function startAgent(type: string): Promise<string> { return (await agents.start(type)).id; }
export async function stopAgent(id: string): Promise<void> { await agents.stop(id); }
export async function sendAgain(id: string): Promise<string> { return agents.ref(Parcel, id).who(); }
export async function inTransaction(text: string): Promise<string> {
  return graph.transaction(async (transaction) => JSON.stringify(await transaction.graphql(text)));
}
export async function askWho(id: string): Promise<string> { return agents.ref(Parcel, id).who(); }
`;

const folder = sharedFolder();
let s: TestService;
beforeAll(async () => {
  mkdirSync(join(folder, 'functions'));
  writeFileSync(join(folder, 'schema.graphql'), TYPES);
  writeFileSync(join(folder, 'functions', 'index.ts'), APP);
  s = await startService({ appDir: folder });
});
afterAll(async () => {
  await s.close();
});

async function start(type = 'Parcel'): Promise<string> {
  return (await s.graphql('mutation ($type: String!) { startAgent(type: $type) }', { type })).body.data.startAgent;
}

const token = (user: string) => tokenOf({ USER: user });

const MOVE = 'mutation ($id: ID!, $stop: StopInput!) { parcelMoveTo(agentId: $id, stop: $stop) }';
const WHERE = 'query ($id: ID!) { parcelWhere(agentId: $id) { place tags } }';
const stop = { place: 'depot', tags: ['a', 'b'] };

async function ask(field: string, id: string, headers: Record<string, string> = {}) {
  const { body } = await s.graphql(`mutation ($id: ID!) { told: ${field} }`, { id }, headers);
  return body;
}

describe('a handler that is marked as an operation', () => {
  it('is called by its clients: its effects are durable, and its reply is typed', async () => {
    const id = await start();
    expect((await s.graphql(MOVE, { id, stop })).body).toMatchObject({ data: { parcelMoveTo: 1 } });
    expect((await s.graphql(WHERE, { id })).body).toMatchObject({ data: { parcelWhere: stop } });
    const twice = await ask('parcelMoveTo(agentId: $id, stop: { place: "door" }, times: 2)', id);
    expect(twice).toMatchObject({ data: { told: 3 } });
    expect((await s.graphql(WHERE, { id })).body).toMatchObject({
      data: { parcelWhere: { place: 'door', tags: null } },
    });
  });

  it('is described with its words and its parameters, also where its class has it from another', async () => {
    const query = `{ __schema { mutationType { fields { name description args { name description defaultValue type { kind ofType { name } } } } }
      queryType { fields { name } } } }`;
    const { mutationType, queryType } = (await s.graphql(query)).body.data.__schema;
    const named = (name: string) => mutationType.fields.find((field: { name: string }) => field.name === name);
    expect(named('parcelMoveTo')).toEqual({
      name: 'parcelMoveTo',
      description: 'Moves it on.',
      args: [
        {
          name: 'agentId',
          description: 'Id of the Parcel.',
          defaultValue: null,
          type: { kind: 'NON_NULL', ofType: { name: 'ID' } },
        },
        {
          name: 'stop',
          description: 'where to',
          defaultValue: null,
          type: { kind: 'NON_NULL', ofType: { name: 'StopInput' } },
        },
        { name: 'times', description: null, defaultValue: '1', type: { kind: 'SCALAR', ofType: null } },
      ],
    });
    expect(named('truckMoveTo')).toBeDefined();
    expect(named('parcelHidden')).toBeUndefined();
    expect(queryType.fields.map(({ name }: { name: string }) => name)).toContain('parcelWhere');
  });

  it('reaches agents of its own class only', async () => {
    const truck = await start('Truck');
    const { errors } = (await s.graphql(MOVE, { id: truck, stop })).body;
    expect(errors).toMatchObject([{ message: `there is no Parcel "${truck}"`, extensions: { code: 'AGENT_UNKNOWN' } }]);
    expect(await ask('truckMoveTo(agentId: $id, stop: { place: "road" })', truck)).toMatchObject({ data: { told: 1 } });
  });

  it.each([
    ['an unknown one', async () => 'agent_none', 'AGENT_UNKNOWN'],
    ['an empty one', async () => '', 'AGENT_ID_MISSING'],
    ['one that was stopped', stopped, 'AGENT_TERMINATED'],
  ])('tells of an id: %s', async (_, id, code) => {
    expect((await ask('parcelLose(agentId: $id)', await id())).errors).toMatchObject([{ extensions: { code } }]);
  });

  it('passes on what it throws, and leaves nothing', async () => {
    const id = await start();
    const { errors } = await ask('parcelFail(agentId: $id)', id);
    expect(errors).toMatchObject([
      { message: expect.stringContaining('it is sealed'), path: ['told'], extensions: { seal: 7 } },
    ]);
    expect((await s.graphql(WHERE, { id })).body.data).toEqual({ parcelWhere: null });
  });

  it('gets undefined for what is left out, so that its defaults hold, and null where its type has it', async () => {
    const id = await start();
    const told = async (args: string) => JSON.parse((await ask(`parcelTold(agentId: $id${args})`, id)).data.told);
    expect(await told('')).toEqual([true, 'none', null]);
    expect(await told(', third: "3"')).toEqual([true, 'none', '3']);
    expect(await told(', first: "1", second: null, third: null')).toEqual([false, 'none', null]);
  });

  it('knows who calls, where the message came straight from a client', async () => {
    const id = await start();
    await s.graphql('mutation { addNote(input: [{ owner: "ann" }, { owner: "bob" }]) { numUids } }');
    expect((await ask('parcelWho(agentId: $id)', id, await token('ann'))).data.told).toBe('ann');
    expect((await ask('parcelWho(agentId: $id)', id)).data.told).toBe('undefined');
    expect((await s.graphql(`mutation { told: askWho(id: "${id}") }`, {}, await token('ann'))).body).toMatchObject({
      data: { told: 'undefined' },
    });
    const mine = await ask('parcelMine(agentId: $id)', id, await token('ann'));
    expect(JSON.parse(mine.data.told)).toEqual({ queryNote: [{ owner: 'ann' }] });
    expect((await ask('parcelMine(agentId: $id)', id)).errors).toBeUndefined();
    expect(JSON.parse((await ask('parcelMine(agentId: $id)', id)).data.told)).toEqual({ queryNote: [] });
  });

  it.each(['parcelAgain', 'sendAgain'])('is refused to an agent that would wait for itself: %s', async (how) => {
    const id = await start();
    const { errors } = await ask(`parcelAgain(agentId: $id, how: "${how}")`, id);
    expect(errors).toMatchObject([{ extensions: { code: 'AGENT_CIRCLE', agents: [id, id] } }]);
  });

  it('is refused where a transaction would wait for its reply, which comes before it has landed', async () => {
    const id = await start();
    const within = async (text: string) =>
      (await s.graphql('mutation ($text: String!) { told: inTransaction(text: $text) }', { text })).body;
    expect(await within(`mutation { parcelMoveTo(agentId: "${id}", stop: { place: "a" }) }`)).toMatchObject({
      errors: [{ message: expect.stringContaining('graph.transaction'), extensions: { code: 'INVALID_REQUEST' } }],
    });
    const read = await within(`{ parcelWhere(agentId: "${id}") { place } }`);
    expect(read).toMatchObject({ data: { told: '{"parcelWhere":null}' } });
  });

  it('answers a repeated message with the first reply', async () => {
    const id = await start();
    const query =
      'mutation ($id: ID!) { one: parcelMoveTo(agentId: $id, stop: { place: "a" }) two: parcelMoveTo(agentId: $id, stop: { place: "b" }) }';
    const again = () => s.graphql(query, { id }, { 'idempotency-key': `move ${id}` });
    expect((await again()).body.data).toEqual({ one: 1, two: 2 });
    expect((await again()).body.data).toEqual({ one: 1, two: 2 });
    expect((await ask('parcelMoveTo(agentId: $id, stop: { place: "c" })', id)).data.told).toBe(3);
  });

  it('is asked by GET where it only reads', async () => {
    const id = await start();
    await s.graphql(MOVE, { id, stop });
    const url = `${s.url}/graphql?query=${encodeURIComponent(`{ parcelWhere(agentId: "${id}") { place } }`)}`;
    expect(await (await fetch(url)).json()).toMatchObject({ data: { parcelWhere: { place: 'depot' } } });
  });

  it('gives nothing: true', async () => {
    expect((await ask('parcelLose(agentId: $id)', await start())).data).toEqual({ told: true });
  });
});

async function stopped(): Promise<string> {
  const id = await start();
  await s.graphql('mutation ($id: String!) { stopAgent(id: $id) }', { id });
  return id;
}
