import { accessSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { checkStore } from './doctor/store.js';
import { assertStore, holdsStore } from './holds-store.js';

vi.mock('node:fs', async (original) => ({ ...(await original<object>()), accessSync: vi.fn() }));

function refuse(code: string): void {
  vi.mocked(accessSync).mockImplementation(() => {
    throw Object.assign(new Error(code), { code });
  });
}

it('takes a log for a store whose data file is gone', () => {
  const directory = mkdtempSync(join(tmpdir(), 'graphstead-holds-'));
  try {
    refuse('ENOENT');
    writeFileSync(join(directory, 'redo-3.log'), '');
    expect(holdsStore(directory)).toBe(true);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

it('tells a store that is not there from one that this user may not see', async () => {
  refuse('ENOENT');
  expect(holdsStore('/data')).toBe(false);
  expect(() => assertStore('/data')).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }));
  expect(await checkStore('/data')).toMatchObject([{ status: 'good', message: '/data holds no store yet' }]);
  refuse('EACCES');
  const message = '/data may not be read by this user';
  expect(() => assertStore('/data')).toThrow(
    expect.objectContaining({ code: 'CONFIG', message, fix: expect.stringContaining('sudo -u') }),
  );
  expect(await checkStore('/data')).toMatchObject([
    { status: 'bad', message, fix: expect.stringContaining('sudo -u') },
  ]);
});
