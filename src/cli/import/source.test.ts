import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { sharedFolder } from '../../../test/folder.js';
import { jsonObjects, sourceFile } from './source.js';

const folder = sharedFolder();

async function objects(text: string): Promise<string[]> {
  const path = join(folder, 'data.json');
  writeFileSync(path, text);
  const found: string[] = [];
  for await (const object of jsonObjects(sourceFile(path), () => undefined)) found.push(object.text);
  return found;
}

it.each([
  ['a list', '[{"a":1},\n{"a":[2,"]"]}]\n', ['{"a":1}', '{"a":[2,"]"]}']],
  ['an empty list', '[]', []],
  ['nothing', '', []],
  ['objects in lines', '{"a":1}\n{"a":2}\n', ['{"a":1}', '{"a":2}']],
  ['lists one after another', '\ufeff[{"a":1}]\r\n[{"a":2}]', ['{"a":1}', '{"a":2}']],
])('reads %s', async (_, text, found) => {
  expect(await objects(text)).toEqual(found);
});

it.each([
  ['behind an object', '\n[{"a":1}', 2],
  ['behind a comma', '[{"a":1},\n', 1],
  ['in front of all objects', '[', 1],
  ['in an object', '[\n{"a":"', 2],
  ['in a list of one', '[{"a":[1', 1],
])('refuses a file that is cut short %s', async (_, text, line) => {
  await expect(objects(text)).rejects.toMatchObject({
    code: 'SYNTAX',
    message: expect.stringContaining('does not end'),
    position: { line },
    fix: expect.any(String),
  });
});

it.each([
  ['a list in a list', '[[{"a":1}]]'],
  ['an end of a list that never began', '{"a":1}]'],
  ['a word', '[{"a":1}]junk'],
])('refuses %s', async (_, text) => {
  await expect(objects(text)).rejects.toMatchObject({ code: 'SYNTAX', fix: expect.any(String) });
});
