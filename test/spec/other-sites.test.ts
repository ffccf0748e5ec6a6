// On loopback nothing needs a key, so pages of other sites that a browser shows must be kept from the data.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../service.js';

let s: TestService;
beforeAll(async () => {
  s = await startService({ environment: { GRAPHSTEAD_API_KEYS: 'k' } });
});
// some of them drop it
beforeEach(async () => {
  await s.schema('type Note { id: ID! text: String }');
});
afterAll(() => s.close());

// a body that a browser sends without asking first
const drop = (headers: Record<string, string>) => s.post('/alter', '{"drop_all": true}', 'text/plain', headers);

describe('a page of another site', () => {
  it.each([
    ['which the browser says', { 'sec-fetch-site': 'cross-site' }],
    ['whose origin is all that an older browser tells', { origin: 'https://evil.example' }],
    ['without an origin of its own', { origin: 'null' }],
  ])('cannot alter, mutate or query the graph: %s', async (_, site) => {
    for (const answer of [
      await drop(site),
      await s.post('/mutate?commitNow=true', '{ set { _:a <name> "x" . } }', 'application/rdf', site),
      await s.get('/admin/schema', site),
    ]) {
      expect(answer.status).toBe(403);
      expect(answer.body.errors[0].extensions).toMatchObject({ code: 'FORBIDDEN', fix: expect.any(String) });
    }
    expect((await s.get('/admin/schema')).body).toContain('type Note');
  });

  it('may ask GraphQL, as the types allow, and anything with a key', async () => {
    const { status } = await s.graphql('{ queryNote { text } }', undefined, { 'sec-fetch-site': 'cross-site' });
    expect(status).toBe(200);
    const slash = await s.get('/graphql/?query=%7B__typename%7D', { 'sec-fetch-site': 'cross-site' });
    expect(slash.status).toBe(200);
    expect((await drop({ 'sec-fetch-site': 'cross-site', 'x-api-key': 'k' })).status).toBe(200);
  });

  it('changes nothing by an address that a browser opens, not even as a stream', async () => {
    const query = encodeURIComponent('mutation { addNote(input: [{ text: "planted" }]) { numUids } }');
    const asked = await s.get(`/graphql?query=${query}`);
    expect([asked.status, asked.body.errors[0].extensions.code]).toEqual([405, 'METHOD_NOT_ALLOWED']);
    expect(asked.headers.get('allow')).toBe('POST');
    const admin = await s.get(`/admin?query=${encodeURIComponent('mutation { shutdown { response { code } } }')}`);
    expect([admin.status, admin.headers.get('allow')]).toEqual([405, 'POST']);
    const streamed = await s.get(`/graphql?query=${query}`, { accept: 'text/event-stream' });
    expect(streamed.body).toContain('METHOD_NOT_ALLOWED');
    const { body } = await s.graphql('{ queryNote { text } }');
    expect(body.data).toEqual({ queryNote: [] });
  });

  it('is no curl, no server and no page of this machine', async () => {
    expect((await drop({})).status).toBe(200);
    expect((await drop({ 'sec-fetch-site': 'same-origin' })).status).toBe(200);
    expect((await drop({ 'sec-fetch-site': 'same-site' })).status).toBe(200);
    for (const origin of ['http://localhost:3000', 'http://127.0.0.1:8686', 'http://[::1]:1', 'http://app.localhost']) {
      expect([origin, (await drop({ origin })).status]).toEqual([origin, 200]);
    }
  });
});

it('an answer that a cache may keep is not given to pages of another origin than it was made for', async () => {
  await s.schema('type Note { id: ID! text: String }\n# Service.Allow-Origin "https://a.example"');
  const path = `/graphql?query=${encodeURIComponent('query @cacheControl(maxAge: 5) { queryNote { text } }')}`;
  for (const origin of ['https://a.example', 'https://b.example', undefined]) {
    const { headers } = await s.get(path, origin === undefined ? {} : { origin });
    expect(headers.get('cache-control')).toBe('public,max-age=5');
    expect(headers.get('access-control-allow-origin')).toBe(origin === 'https://a.example' ? origin : null);
    expect(headers.get('vary')?.split(', ')).toEqual(expect.arrayContaining(['Origin', 'Accept-Encoding']));
  }
});
