// The README's questions are asked of the loaded example, and must be answered as the README says; its agent is served and does
// what is told of it.
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
// @ts-expect-error plain scripts without types
import { startExample } from '../scripts/example.mjs';
// @ts-expect-error plain scripts without types
import { ask, questions } from '../scripts/readme.mjs';

import { testFolder } from './folder.js';
import { startService } from './service.js';
import { openStream } from './sse.js';

const ROOT = join(import.meta.dirname, '..');

let service: { url: string; stop(): Promise<void> };
beforeAll(async () => {
  service = await startExample();
});
afterAll(() => service?.stop());

describe('README', () => {
  const all = questions() as { language: string; query: string; answer: string }[];

  it('asks five questions', () => {
    expect(all).toHaveLength(5);
  });

  it.each(all)(
    '$language question is answered as printed (node scripts/readme.mjs --write refreshes): $query',
    async (question) => {
      expect(await ask(service.url, question)).toBe(question.answer);
    },
  );

  it('shows an agent whose reply, node, event and alarm land together', async () => {
    const folder = testFolder();
    const [, code] = /```ts\n([\s\S]*?)```/.exec(readFileSync(join(ROOT, 'README.md'), 'utf8')) ?? [];
    mkdirSync(join(folder, 'agents'));
    writeFileSync(join(folder, 'agents/order.ts'), String(code));
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    const app = await startService({ appDir: folder });
    try {
      const agents = app.service.host!.agents;
      const { id } = await agents.start('Order');
      const stream = await openStream(`${app.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
        body: JSON.stringify({ query: `subscription { agentEvent(agentId: "${id}") { name data } }` }),
      });
      const answer = await app.graphql('mutation ($id: ID!) { orderPay(agentId: $id, amount: 5) }', { id });
      expect(answer.body.data).toEqual({ orderPay: 'thank you' });
      expect((await stream.value()).data).toEqual({ agentEvent: { name: 'paid', data: { amount: 5 } } });
      stream.close();
      expect(await app.data('{ paid(func: has(Payment.amount)) { Payment.order Payment.amount } }')).toEqual({
        paid: [{ 'Payment.order': id, 'Payment.amount': 5 }],
      });
      expect(await agents.alarms(id)).toMatchObject([{ name: 'ship' }]);
    } finally {
      await app.close();
    }
  });
});
