import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Remote, startRemote } from '../../test/remote.js';
import { startService, type TestService } from '../../test/service.js';
import { readableVariables } from './schema-variables.js';

const NAMES = 'GRAPHSTEAD_SCHEMA_VARIABLES';

it('all variables on loopback where nothing is said, none elsewhere, and those that are named', () => {
  expect(readableVariables({}, '127.0.0.1')).toBeUndefined();
  expect(readableVariables({}, '0.0.0.0')).toEqual(new Set());
  expect(readableVariables({ [NAMES]: '' }, '127.0.0.1')).toEqual(new Set());
  expect(readableVariables({ [NAMES]: 'APP_A_KEY, APP_B_KEY' }, '0.0.0.0')).toEqual(
    new Set(['APP_A_KEY', 'APP_B_KEY']),
  );
  expect(readableVariables({ [NAMES]: '*' }, '0.0.0.0')).toBeUndefined();
  for (const odd of ['github', 'APP_a_key', 'PATH'])
    expect(() => readableVariables({ [NAMES]: odd }, '::1')).toThrow(odd);
});

describe('on an address other than loopback', () => {
  const environment = { GRAPHSTEAD_API_KEYS: 'k', APP_WHO_KEY: 's3cret', APP_OTHER_KEY: 'other' };
  const headers = { 'x-api-key': 'k' };
  const folders: string[] = [];
  let remote: Remote;
  let s: TestService | undefined;
  beforeEach(async () => {
    remote = await startRemote();
    remote.on('/who', (call) => ({ body: JSON.stringify(call.headers['x-key']) }));
  });
  afterEach(async () => {
    await s?.close();
    s = undefined;
    await remote.close();
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  });

  const folder = () => {
    const made = mkdtempSync(join(tmpdir(), 'graphstead-variables-'));
    folders.push(made);
    return made;
  };
  const types = (secret = 'who', more = '') => `# Service.Secret ${secret} "{{KEY}}"\n${more}
    type Query { who: String @custom(http: { url: "${remote.url}/who", method: GET, secretHeaders: ["X-Key:${secret}"] }) }`;
  const start = (more: object = {}, options: object = {}) =>
    startService({ host: '0.0.0.0', environment: { ...environment, ...more }, ...options });
  const upload = (service: TestService, text: string) => service.post('/admin/schema', text, 'text/plain', headers);

  it('uploaded definitions read no variable that the service was not started for', async () => {
    s = await start({ [NAMES]: 'APP_OTHER_KEY' });
    const refused = await upload(s, types());
    expect([refused.status, refused.body.errors[0].extensions.code]).toEqual([400, 'MISSING_VARIABLE']);
    expect(refused.body.errors[0].extensions.fix).toContain(`APP_WHO_KEY in ${NAMES}`);
    // that a variable is not there is not told either
    const absent = await upload(s, types('nobody'));
    expect(absent.body.errors[0].message).toContain('may not read the variable APP_NOBODY_KEY');
    const authorization =
      '# Service.Authorization {"Header":"X-Auth","Namespace":"https://a/claims","Algo":"HS256","VerificationKey":"{{KEY}}"}';
    const missing = await upload(s, types('other', authorization));
    expect(missing.body.errors.map(({ message }: { message: string }) => message)).toEqual([
      'the authorization needs the variable APP_AUTHORIZATION_KEY',
    ]);
    expect((await upload(s, types('other'))).status).toBe(200);
    expect((await s.graphql('{ who }', {}, headers)).body).toMatchObject({ data: { who: 'other' } });
  });

  it("an app's schema.graphql reads them all, and one that was uploaded over it does not", async () => {
    const [appDir, data] = [folder(), folder()];
    writeFileSync(join(appDir, 'schema.graphql'), types());
    s = await start({}, { appDir, data });
    expect((await s.graphql('{ who }', {}, headers)).body).toMatchObject({ data: { who: 's3cret' } });
    expect((await upload(s, types().replace('/who', '/thief'))).status).toBe(400);
    expect((await upload(s, types())).status).toBe(200);
    await s.close();
    writeFileSync(join(appDir, 'schema.graphql'), types('other'));
    s = await start({}, { appDir, data });
    expect(s.service.warnings).toEqual([]);
    expect((await s.graphql('{ who }', {}, headers)).body).toMatchObject({ data: { who: 'other' } });
    await s.close();
    s = undefined;
    await expect(start({}, { data })).rejects.toMatchObject({ errors: [{ code: 'MISSING_VARIABLE' }] });
  });

  it('a start without them tells of all at once: those of connections and those of type definitions', async () => {
    const appDir = folder();
    const connections = { billing: { type: 'http', baseUrl: 'https://{{HOST}}/', headers: { 'X-Key': '{{KEY}}' } } };
    writeFileSync(join(appDir, 'app.json'), JSON.stringify({ connections }));
    writeFileSync(join(appDir, 'schema.graphql'), types('nobody'));
    const refused: unknown = await start({}, { appDir }).catch((error: unknown) => error);
    expect(refused).toMatchObject({
      errors: [
        { details: { variable: 'APP_BILLING_HOST' } },
        { details: { variable: 'APP_BILLING_KEY' } },
        { details: { variable: 'APP_NOBODY_KEY' }, position: { source: 'schema.graphql' } },
      ],
    });
  });

  it('a start beside stored definitions without them tells of all at once too', async () => {
    const [appDir, data] = [folder(), folder()];
    s = await start({ [NAMES]: 'APP_WHO_KEY' }, { data });
    expect((await upload(s, types())).status).toBe(200);
    await s.close();
    s = undefined;
    const connections = { billing: { type: 'http', baseUrl: 'https://{{HOST}}/' } };
    writeFileSync(join(appDir, 'app.json'), JSON.stringify({ connections }));
    const stored = { details: { variable: 'APP_WHO_KEY' }, position: { source: 'the stored type definitions' } };
    const refused = (more: object) =>
      start({ APP_WHO_KEY: '', ...more }, { appDir, data }).catch((error: unknown) => error);
    expect(await refused({})).toMatchObject({ errors: [{ details: { variable: 'APP_BILLING_HOST' } }, stored] });
    expect(await refused({ APP_BILLING_HOST: 'b' })).toMatchObject({ errors: [stored] });
  });
});
