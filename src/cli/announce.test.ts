import { afterEach, expect, it, vi } from 'vitest';
import { openService } from '../server/index.js';
import { Announcer } from './announce.js';

afterEach(() => vi.restoreAllMocks());

it.each([
  ['127.0.0.1', " -H 'content-type"],
  ['0.0.0.0', ' -H "authorization: Bearer $GRAPHSTEAD_API_KEY" -H \'content-type'],
])('a call to copy carries what %s asks for', async (host, headers) => {
  const environment = { GRAPHSTEAD_API_KEYS: 'never-printed' };
  const service = await openService({ host, port: 0, logLevel: 'silent', environment });
  await service.core.api.updateSchema('type Note { id: ID! text: String }');
  const print = vi.spyOn(console, 'log').mockReturnValue();
  new Announcer(service, { host, explorer: false, data: '/data' }).ready();
  const said = print.mock.calls.flat().join('\n');
  await service.close();
  expect(said).toContain(`curl -s ${service.url}/graphql${headers}`);
  expect(said).not.toContain('never-printed');
});
