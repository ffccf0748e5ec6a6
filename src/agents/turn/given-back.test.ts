import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type AgentService, agentService } from '../../../test/agent-service.js';
import type { GraphCalls, GraphTransaction } from '../contract.js';

const CODE = `
  const QUERY = '{ q(func: uid(1)) { uid } }';
  class Reader extends Agent {
    static readOnly = ['peek', 'peekAndFail'];
    state = { reads: 0 };
    async onReceiveMessage(name) {
      const { q } = await graph.query(QUERY);
      if (name.endsWith('Fail')) throw new Error('no luck');
      if (name === 'count') this.state.reads++;
      return q;
    }
  }
  agents.register(Reader);
`;

let service: AgentService;
/** transactions of the graph that are open: each holds a snapshot of the store */
let open = 0;
let begun = 0;

const begin = async (): Promise<GraphTransaction> => {
  open++;
  begun++;
  let ended = false;
  return {
    holdReads: () => undefined,
    query: async () => '{ "q": "read" }',
    abort() {
      if (!ended) open--;
      ended = true;
    },
  } as unknown as GraphTransaction;
};

beforeEach(async () => {
  [open, begun] = [0, 0];
  service = await agentService(CODE, [], { graph: { begin } as GraphCalls });
});
afterEach(() => service.close());

it('a turn that only read gives its transaction of the graph back, however it ends', async () => {
  const { id } = await service.agents.start('Reader');
  const left: number[] = [];
  for (const name of ['peek', 'look', 'count', 'peekAndFail', 'lookAndFail']) {
    await service.agents.send(id, name).catch(() => undefined);
    await nextTurn();
    left.push(open);
  }
  expect([begun, left]).toEqual([5, [0, 0, 0, 0, 0]]);
});
