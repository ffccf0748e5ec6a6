import { afterEach, beforeEach, expect, it } from 'vitest';
import { type AgentService, agentService } from '../../test/agent-service.js';

const CODE = `
  const lossy = { date: () => new Date(0), map: () => new Map(), nan: () => NaN, hole: () => [undefined] };
  class Desk extends Agent {
    static handlers = ['take', 'hand', 'tell', 'filed'];
    state = { filed: 0 };
    take(first, { paper } = {}, copies = 1) { return [first, paper ?? null, copies]; }
    hand(what) { this.state.filed++; return { paper: lossy[what]() }; }
    tell(what) {
      this.state.filed++;
      if (what === 'live') this.publishEvent('told', { paper: new Map() }, { live: true });
      this.publishEvent({ eventName: 'told', paper: lossy[what](), at: new Date(0) });
    }
    filed() { return this.state.filed; }
  }
  agents.register(Desk);
  const told = (work) => work.then((value) => ({ value }), ({ code, details }) => ({ code, ...details }));
  async function take(id, what, background) {
    const given = ['a', what === undefined ? undefined : { paper: lossy[what]() }, undefined];
    return told((background ? agents.refAsync : agents.ref)(Desk, id).take(...given));
  }
  async function hand(id, what) { return told(agents.ref(Desk, id).hand(what)); }
  async function tell(id, what) { return told(agents.ref(Desk, id).tell(what)); }
`;

let service: AgentService;
let id: string;
beforeEach(async () => {
  service = await agentService(CODE, ['take', 'hand', 'tell']);
  ({ id } = await service.agents.start('Desk'));
});
afterEach(() => service.close());

it('what a typed sender sends is refused where JSON would change it; what is not given keeps its default', async () => {
  for (const what of ['date', 'map', 'nan']) {
    const refusal = { code: 'INVALID_VALUE', valuePath: 'arguments[1].paper' };
    expect(await service.call('take', id, what)).toEqual(refusal);
    expect(await service.call('take', id, what, true)).toEqual(refusal);
  }
  expect(await service.call('take', id, 'hole')).toEqual({
    code: 'INVALID_VALUE',
    valuePath: 'arguments[1].paper[0]',
  });
  expect(await service.call('take', id)).toEqual({ value: ['a', null, 1] });
  expect((await service.agents.info(id)).waiting).toBe(0);
});

it('what a handler gives fails its turn where JSON would change it, whoever asked', async () => {
  expect(await service.call('hand', id, 'date')).toEqual({ code: 'AGENT_FAILED', valuePath: 'result.paper' });
  await expect(service.agents.send(id, 'hand', 'map')).rejects.toMatchObject({
    code: 'AGENT_FAILED',
    message: 'what "hand" gives is no JSON: result.paper is an instance of Map',
    fix: 'give [...value], or Object.fromEntries(value)',
  });
  expect(await service.agents.send(id, 'filed')).toBe('0');
});

it('the data of an event is refused where JSON would change it, but for what says itself what it is in JSON', async () => {
  const told = async () => (await service.agents.keptEvents(id)).filter(({ name }) => name === 'told');
  for (const what of ['map', 'nan', 'live']) {
    expect(await service.call('tell', id, what)).toEqual({ code: 'INVALID_VALUE', valuePath: 'data.paper' });
  }
  expect(await told()).toEqual([]);
  expect(await service.call('tell', id, 'date')).toEqual({});
  const at = '1970-01-01T00:00:00.000Z';
  expect(await told()).toMatchObject([{ data: { paper: at, at } }]);
});
