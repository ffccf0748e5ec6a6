// Real GraphQL clients against a real service: graphql-http's audits of GraphQL over HTTP, and graphql-sse's client.
import { auditServer } from 'graphql-http';
import { createClient } from 'graphql-sse';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../service.js';

let s: TestService;
beforeAll(async () => {
  s = await startService();
  const answer = await s.schema('type Note @withSubscription { id: ID! text: String! @search(by: [hash]) }');
  expect(answer.body.errors).toBeUndefined();
});
afterAll(() => s.close());

describe('graphql-http', () => {
  it('finds nothing to complain about: every audit passes', async () => {
    const results = await auditServer({ url: `${s.url}/graphql`, fetchFn: fetch });
    expect(results.length).toBeGreaterThan(50);
    const failed = results
      .filter((result) => result.status !== 'ok')
      .map((result) => `${result.id} ${result.name}: ${'reason' in result ? result.reason : ''}`);
    expect(failed).toEqual([]);
  });
});

describe("graphql-sse's client", () => {
  it('follows a subscription that pushes on commit', async () => {
    const client = createClient({ url: `${s.url}/graphql`, retryAttempts: 0 });
    const stream = client.iterate<{ queryNote: { text: string }[] }>({ query: 'subscription { queryNote { text } }' });
    const texts = async () =>
      (await stream.next()).value?.data?.queryNote.map((note: { text: string }) => note.text).sort();
    expect(await texts()).toEqual([]);
    await s.graphql('mutation { addNote(input: [{ text: "one" }]) { numUids } }');
    expect(await texts()).toEqual(['one']);
    await s.graphql('mutation { addNote(input: [{ text: "two" }]) { numUids } }');
    expect(await texts()).toEqual(['one', 'two']);
    await stream.return?.();
    client.dispose();
  });

  it('is told of a query that is wrong', async () => {
    const client = createClient({ url: `${s.url}/graphql`, retryAttempts: 0 });
    const stream = client.iterate({ query: 'subscription { queryNothing { text } }' });
    const first = await stream.next();
    expect(first.value?.errors?.[0].message).toMatch(/queryNothing/);
    client.dispose();
  });
});
