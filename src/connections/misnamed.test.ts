import { expect, it } from 'vitest';
import { readConfig } from './config.js';
import { misnamedVariables } from './misnamed.js';

const config = readConfig(
  JSON.stringify({
    connections: {
      'git-hub': { type: 'http', baseUrl: '{{BASE}}', headers: { Authorization: 'Bearer {{TOKEN}}' } },
      db: { type: 'relational', connStr: '{{URL}}' },
    },
  }),
);
const RIGHT = { APP_GIT_HUB_BASE: 'http://a', APP_GIT_HUB_TOKEN: 't', APP_DB_URL: 'postgres://a/b' };

it.each([
  [
    'begins as those of a connection',
    { ...RIGHT, APP_GIT_HUB_TOKEN_OLD: 't' },
    'APP_GIT_HUB_TOKEN_OLD',
    'APP_GIT_HUB_TOKEN',
  ],
  ['as good as names one that is not set', { ...RIGHT, APP_DB_URL: '', APP_BD_URL: 'x' }, 'APP_BD_URL', 'APP_DB_URL'],
])('finds a variable that %s', (_, environment, name, nearest) => {
  expect(misnamedVariables(config, environment)).toEqual([{ name, nearest }]);
});

it('says nothing of what may be meant for somebody else', () => {
  const others = {
    APP_ENV: 'production',
    APP_BD_URL: 'of code of the app',
    GIT_HUB_TOKEN: 't',
    APP_DB_KEY: 'of a secret',
  };
  const types = '# Service.Secret db "{{KEY}}"\ntype A { a: Int }';
  expect(misnamedVariables(config, { ...RIGHT, ...others }, types)).toEqual([]);
  expect(misnamedVariables(readConfig('{}'), { APP_A_B: '1' })).toEqual([]);
});
