// What a newcomer sees of an app that stores no types: its functions, ready to be called.
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startService, type TestService } from '../service.js';
import { launch, open } from './page.js';

let browser: Browser;
let service: TestService;
beforeAll(async () => {
  browser = await launch();
  service = await startService({ appDir: join(import.meta.dirname, '../../examples/mission-control'), explorer: true });
});
afterAll(async () => {
  await browser.close();
  await service.close();
});

it('has calls of the functions in its editor, those without arguments first', async () => {
  const { page, problems, close } = await open(browser, service.url, 'graphql');
  await page.locator('.graphiql-query-editor').getByText('ImportActivity', { exact: true }).waitFor();
  expect(await page.locator('.graphiql-query-editor').textContent()).toMatch(
    /query TestConnection .*mutation DeployAgent .*\$agentId/s,
  );
  // a menu once the editor has read its text: before that, a click runs the first operation
  await page.locator('.graphiql-execute-button[aria-haspopup="menu"]').click();
  await page.getByRole('menuitem', { name: 'DeployAgent' }).click();
  await page.locator('.result-window').getByText('agent_').waitFor();
  expect(problems).toEqual([]);
  await close();
});
