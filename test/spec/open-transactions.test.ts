// Clients that leave transactions open: whoever forgets `commitNow` takes nothing away from those who do not.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startService, type TestService } from '../service.js';

let s: TestService;
beforeAll(async () => {
  s = await startService({ limits: { transactions: 3 } });
  await s.schema('type Note { id: ID! text: String! @search }');
});
afterAll(() => s.close());

const open = (text: string) => s.post('/mutate', `{ set { _:a <text> "${text}" . } }`, 'application/rdf');

it('are told the limit, while requests that end what they begin go on', async () => {
  for (const text of ['one', 'two', 'three']) expect((await open(text)).status).toBe(200);
  const refused = await open('four');
  expect([refused.status, refused.body.errors[0]]).toMatchObject([
    429,
    {
      message: 'clients hold 3 transactions open (limits.transactions)',
      extensions: {
        code: 'TOO_MANY_TRANSACTIONS',
        fix: 'Commit or abort transactions, or send changes with commitNow=true.',
      },
    },
  ]);
  const added = await s.graphql('mutation { addNote(input: [{ text: "five" }]) { note { text } } }');
  expect(added.body).toMatchObject({ data: { addNote: { note: [{ text: 'five' }] } } });
  expect((await s.graphql('{ queryNote { text } }')).body.data).toEqual({ queryNote: [{ text: 'five' }] });
  expect((await s.rdf('{ set { _:a <text> "six" . } }')).status).toBe(200);
  const read = await s.post('/query', '{ q(func: has(text)) { text } }', 'application/dql');
  expect([read.status, read.body.data]).toEqual([200, { q: [{ text: 'six' }] }]);
  const again = await s.post(
    `/query?startTs=${read.body.extensions.txn.start_ts}`,
    '{ q(func: has(text)) { text } }',
    'application/dql',
  );
  expect([again.status, again.body.errors[0].extensions.code]).toEqual([409, 'TXN_EXPIRED']);
});
