import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startApp, type TestApp } from 'graphstead/testing';

let app: TestApp;
before(async () => {
  app = await startApp({ models: { writer: ['Milk is missing.'] } });
});
after(() => app?.close());

test('notes are stored and summed up by the model', async () => {
  const note = { text: 'buy milk', done: false, topic: { name: 'home' } };
  await app.graphql('mutation ($note: AddNoteInput!) { addNote(input: [$note]) { numUids } }', { note });
  assert.deepEqual(await app.graphql('{ getSummary(topic: "home") }'), { getSummary: 'Milk is missing.' });
  assert.match(String(app.modelCalls[0].messages[1].content), /buy milk/);
});

test('a reminder rings each time its minutes are over', async () => {
  const start = 'mutation { startReminder(noteId: "0x1", minutes: 10) }';
  const { startReminder } = await app.graphql<{ startReminder: string }>(start);
  await app.advance(35 * 60_000);
  const count = 'query ($id: ID!) { reminderCount(agentId: $id) }';
  assert.deepEqual(await app.graphql(count, { id: startReminder }), { reminderCount: 3 });
  const first = await app.nextEvent(startReminder, 'reminded');
  assert.deepEqual(first.data, { noteId: '0x1', times: 1 });
  assert.equal((await app.events(startReminder)).length, 3);
});
