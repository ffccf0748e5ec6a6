// What operators of the peer ask for, and find elsewhere here.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startService, type TestService } from '../service.js';

let s: TestService;
beforeAll(async () => {
  s = await startService({ compat: 'dgraph' });
});
afterAll(() => s.close());

it.each([
  ['mutation { login(userId: "groot", password: "p") { response { accessJWT } } }', 'GRAPHSTEAD_API_KEYS'],
  ['mutation { backup(input: { destination: "/b" }) { response { code } } }', '/admin/backup?to='],
  ['mutation { restore(input: { location: "/b" }) { code } }', 'graphstead restore'],
  ['mutation { moveTablet(input: { tablet: "name", groupId: 1 }) { response { code } } }', 'one group'],
  ['mutation { config(input: { cacheMb: 1 }) { response { code } } }', 'GRAPHSTEAD_LIMIT_'],
  ['mutation { assign(input: { what: UID, num: 1 }) { response { startId } } }', '/assign?what=uids'],
  ['{ getCurrentUser { name } }', '@auth'],
  ['{ queryGroup { name } }', '@auth'],
  ['{ nothing }', 'Query has getGQLSchema'],
  ['{ health { nothing } }', 'NodeState has'],
])('says what stands in place of an operation of /admin: %s', async (query, fix) => {
  const { body } = await s.post('/admin', JSON.stringify({ query }), 'application/json');
  expect(body.errors[0]).toMatchObject({
    locations: [expect.any(Object)],
    extensions: { code: 'INVALID_GRAPHQL', fix: expect.stringContaining(fix) },
  });
});

it.each([
  ['/admin/draining', 'POST /admin'],
  ['/admin/shutdown', 'POST /admin'],
  ['/admin/config/cache_mb', 'GRAPHSTEAD_LIMIT_'],
  ['/login', 'GRAPHSTEAD_API_KEYS'],
  ['/nothing', 'HTTP reference'],
])('and in place of a path: %s', async (path, fix) => {
  const { status, body } = await s.post(path, '{}', 'application/json');
  expect([status, body.errors[0].extensions.fix]).toEqual([404, expect.stringContaining(fix)]);
});
