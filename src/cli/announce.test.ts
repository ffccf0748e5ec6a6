import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { testFolder } from '../../test/folder.js';
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

it.each([
  [{}, { changes: '/query  /mutate  /alter', sentOn: false }],
  [{ readOnly: true }, { changes: '/query', sentOn: false }],
  [
    { readOnly: true, writer: 'http://10.0.0.1:8686' },
    { changes: '/query  /mutate  /alter', sentOn: true },
  ],
])('%j tells what it answers, and where the rest goes', async (how, { changes, sentOn }) => {
  const data = testFolder();
  const quiet = { data, port: 0, logLevel: 'silent', environment: {} };
  await (await openService(quiet)).close();
  const service = await openService({ ...quiet, ...how });
  const print = vi.spyOn(console, 'log').mockReturnValue();
  new Announcer(service, { host: '127.0.0.1', explorer: false, data, ...how }).ready();
  const lines = print.mock.calls.flat().map(String);
  await service.close();
  expect(lines).toContain(`  Graph       ${service.url}${changes}`);
  const told = '  Sent on     changes, functions and agents, to http://10.0.0.1:8686';
  expect(lines.includes(told)).toBe(sentOn);
});

it('what is worth a line is told with --json too', async () => {
  const environment = { GRAPHSTEAD_API_KEY_FILE: 'x' };
  const service = await openService({ port: 0, logLevel: 'silent', environment });
  const print = vi.spyOn(console, 'log').mockReturnValue();
  new Announcer(service, { host: '127.0.0.1', explorer: false, data: '/data', json: true }).ready();
  await service.close();
  expect(JSON.parse(String(print.mock.calls[0][0]))).toEqual({
    url: service.url,
    grpcPort: null,
    data: '/data',
    pid: process.pid,
    warnings: [expect.stringContaining('GRAPHSTEAD_API_KEY_FILE is no variable of the service')],
  });
});

it('a folder that looks like an app and is not served is told', async () => {
  const folder = testFolder();
  writeFileSync(join(folder, 'schema.graphql'), 'type Note { id: ID! }');
  vi.spyOn(process, 'cwd').mockReturnValue(folder);
  const service = await openService({ port: 0, logLevel: 'silent', environment: {} });
  const print = vi.spyOn(console, 'log').mockReturnValue();
  new Announcer(service, { host: '127.0.0.1', explorer: false, data: '/data' }).ready();
  new Announcer(service, { host: '127.0.0.1', explorer: false, data: '/data', appDir: folder }).ready();
  const said = print.mock.calls.flat().filter((line) => String(line).includes('app.json'));
  await service.close();
  expect(said).toEqual([expect.stringContaining('schema.graphql of this folder: not served')]);
});

it('a folder inside an app is told where the app is', async () => {
  const app = testFolder();
  const folder = join(app, 'functions', 'lib');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(app, 'app.json'), '{}');
  vi.spyOn(process, 'cwd').mockReturnValue(folder);
  const service = await openService({ port: 0, logLevel: 'silent', environment: {} });
  const print = vi.spyOn(console, 'log').mockReturnValue();
  new Announcer(service, { host: '127.0.0.1', explorer: false, data: '/data' }).ready();
  new Announcer(service, { host: '127.0.0.1', explorer: false, data: '/data', appDir: app }).ready();
  const said = print.mock.calls.flat().filter((line) => String(line).includes('app of'));
  await service.close();
  expect(said).toEqual([`  ! the app of ${app} is not served from a folder inside it: go there, or name it`]);
});
