import { expect, it } from 'vitest';
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
