import { expect, it } from 'vitest';
import type { GraphsteadError } from '../base/index.js';
import { openService } from './service.js';
import { logLevel, strayVariables } from './variables.js';

it('names variables that are none of the service, at its start', async () => {
  const environment = {
    GRAPHSTEAD_CLIENT_KEY: 'k',
    GRAPHSTEAD_API_KEYS: 'a',
    GRAPHSTEAD_LIMIT_QUERY_MS: '5',
    GRAPHSTEAD_SERVICE_HOST: '10.0.0.1',
    GRAPHSTEAD_MAIN_SERVICE_PORT_HTTP: '80',
    GRAPHSTEAD_PORT: 'tcp://10.0.0.1:80',
    GRAPHSTEAD_PORT_80_TCP_ADDR: '10.0.0.1',
    PATH: '/bin',
  };
  expect(strayVariables(environment)).toEqual(['GRAPHSTEAD_CLIENT_KEY']);
  const service = await openService({ port: 0, logLevel: 'silent', environment });
  expect(service.warnings).toEqual([expect.stringMatching(/^GRAPHSTEAD_CLIENT_KEY is no variable of the service/)]);
  await service.close();
});

it('takes the level of the log in any case, and refuses what is none', () => {
  expect([{}, { GRAPHSTEAD_LOG: '' }, { GRAPHSTEAD_LOG: 'Debug' }].map(logLevel)).toEqual([
    undefined,
    undefined,
    'debug',
  ]);
  expect(() => logLevel({ GRAPHSTEAD_LOG: 'loud' })).toThrow(expect.objectContaining({ code: 'CONFIG' }));
});

it('says that the key of clients is none of the service, where none of that is set', async () => {
  const refusal = async (environment: Record<string, string>) => {
    const started = openService({ host: '0.0.0.0', port: 0, logLevel: 'silent', environment });
    return ((await started.catch((error: unknown) => error)) as GraphsteadError).fix;
  };
  const told = 'set GRAPHSTEAD_API_KEYS (GRAPHSTEAD_API_KEY is the one that clients send) to';
  expect(await refusal({ GRAPHSTEAD_API_KEY: 'k' })).toContain(told);
  expect(await refusal({})).toMatch(/^set GRAPHSTEAD_API_KEYS to/);
});
