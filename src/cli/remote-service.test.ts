import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from 'vitest';
import { startService, type TestService } from '../../test/service.js';
import { remoteService } from './remote-service.js';

let s: TestService;
afterEach(() => s.close());

it('tells which variable holds the key that a service asks for, or does not know', async () => {
  s = await startService({ host: '0.0.0.0', environment: { GRAPHSTEAD_API_KEYS: 'right' } });
  const url = s.url.replace('0.0.0.0', '127.0.0.1');
  const fix = 'set GRAPHSTEAD_API_KEY to one of its GRAPHSTEAD_API_KEYS';
  const asked = { code: 'UNAUTHENTICATED', message: `${url} needs an API key`, fix };
  await expect(remoteService(url, undefined).get('/metrics')).rejects.toMatchObject(asked);
  const unknown = { ...asked, message: `${url} does not know the key in GRAPHSTEAD_API_KEY` };
  await expect(remoteService(url, 'wrong').send('/query', '', 'application/dql')).rejects.toMatchObject(unknown);
  expect((await remoteService(url, 'right').get('/metrics')).status).toBe(200);
});

it('tells how a certificate is made known', async () => {
  const file = (name: string) => fileURLToPath(new URL(`../../test/support/tls/${name}`, import.meta.url));
  s = await startService({ tls: { cert: file('localhost.pem'), key: file('localhost.key') } });
  const refused = { code: 'CONNECTION_FAILED', fix: expect.stringContaining('NODE_EXTRA_CA_CERTS') };
  await expect(remoteService(s.url, undefined).get('/health')).rejects.toMatchObject(refused);
});
