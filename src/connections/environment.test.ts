import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { sharedFolder } from '../../test/folder.js';
import { readEnvironment } from './environment.js';

const dir = sharedFolder();

it('reads files as editors of all systems save them; the first that has a name wins, after the process', () => {
  writeFileSync(join(dir, '.env.dev.local'), '\uFEFFAPP_A_KEY="one"\r\nexport APP_B_KEY=b b # said\r\n');
  writeFileSync(join(dir, '.env.dev'), 'APP_A_KEY=two\nAPP_C_KEY=c\n');
  writeFileSync(join(dir, '.env'), 'APP_C_KEY=three\nAPP_D_KEY=d\n');
  const process = { APP_D_KEY: 'of the process' };
  expect(readEnvironment(dir, true, process)).toEqual({
    APP_A_KEY: 'one',
    APP_B_KEY: 'b b',
    APP_C_KEY: 'c',
    APP_D_KEY: 'of the process',
  });
  expect(readEnvironment(dir, false, process)).toEqual(process);
});
