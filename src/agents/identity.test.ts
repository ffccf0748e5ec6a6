import { expect, it } from 'vitest';
import { agentService } from '../../test/agent-service.js';

// Instances that app code makes with `new`: none of them is the agent that happens to begin.

const CODE = `
  class Plain extends Agent {}
  class Pair extends Agent {
    other = new Plain();
    onReceiveMessage(name) { return name === 'own' ? this.id : this.other.id; }
  }
  class Broken extends Agent {
    constructor() {
      if (globalThis) throw new Error('not today');
      super();
    }
  }
  agents.register(Plain, Pair, Broken);
  function alone() { return new Plain().id; }
`;

it('an agent made with `new` has no id, beside one that begins and behind one that could not', async () => {
  const { agents, call, close } = await agentService(CODE, ['alone']);
  try {
    const noId = { code: 'INVALID_REQUEST', message: expect.stringContaining('made with `new` has no id') };
    const { id } = await agents.start('Pair');
    expect(await agents.send(id, 'own')).toBe(id);
    await expect(agents.send(id, 'other')).rejects.toMatchObject(noId);
    await expect(agents.start('Broken')).rejects.toThrow('not today');
    await expect(call('alone')).rejects.toMatchObject(noId);
  } finally {
    await close();
  }
});
