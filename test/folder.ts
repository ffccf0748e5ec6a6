import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';

const newFolder = (): string => mkdtempSync(join(tmpdir(), 'graphstead-test-'));
const remove = (folder: string): void => rmSync(folder, { recursive: true, force: true });

/** A folder for one test, asked for by it or before it; gone once the test is over, behind what is to be done after it. */
export function testFolder(): string {
  const folder = newFolder();
  onTestFinished(() => remove(folder));
  return folder;
}

/** A folder for all tests of the file or `describe` that asks for it. */
export function sharedFolder(): string {
  const folder = newFolder();
  afterAll(() => remove(folder));
  return folder;
}
