import { expect, it } from 'vitest';
import type { AgentEvent } from './contract.js';
import { Listening } from './listening.js';

it('lets nobody listen to an agent that is started while it is looked for', async () => {
  const event: AgentEvent = { agentId: 'vault', name: 'opened', data: {}, timestamp: '2026-01-01T00:00:00.000Z' };
  const listening = new Listening({
    hosts: { call: async () => false, manifest: undefined },
    log: () => undefined,
    head: async () => undefined,
    // it is there by now
    async *batches() {
      yield [event];
    },
  });
  const heard = listening.batches({ agentId: 'vault' }, { requestId: 'r' })[Symbol.asyncIterator]();
  await expect(heard.next()).rejects.toMatchObject({ code: 'AGENT_UNKNOWN' });
});
