import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { testFolder } from '../folder.js';
import { startService, type TestService } from '../service.js';

let data: string;
let service: TestService;
beforeEach(async () => {
  data = testFolder();
  service = await startService({ data });
  await service.rdf('{ set { <0x1> <name> "Ann" . } }');
});
afterEach(async () => {
  await service.close();
});

const admin = async (query: string) =>
  (await service.post('/admin', JSON.stringify({ query }), 'application/json')).body;

it('answers with the files once they are written, in the folder that was named', async () => {
  const text =
    'mutation { export(input: {format: "rdf", destination: "nightly"}) { response { code message } taskId exportedFiles } }';
  const { response, taskId, exportedFiles } = (await admin(text)).data.export;
  expect(response).toEqual({ code: 'Success', message: 'Export completed.' });
  expect(exportedFiles).toHaveLength(2);
  for (const file of exportedFiles) expect(file).toContain(join(data, 'export', 'nightly'));
  const rdf = exportedFiles.find((file: string) => file.endsWith('graph.rdf.gz'));
  expect(gunzipSync(readFileSync(rdf)).toString()).toBe('<0x1> <name> "Ann" .\n');
  expect((await admin(`{ task(input: {id: "${taskId}"}) { kind status } }`)).data.task).toEqual({
    kind: 'Export',
    status: 'Success',
  });
});

it('waits for the end where no task is asked for, as it did', async () => {
  const { data: answer } = await admin('mutation { export(input: {format: "json"}) { response { message } } }');
  expect(answer.export.response.message).toBe('Export completed.');
});

it('answers at once where the task alone is asked for, which tells of its end', async () => {
  const { response, taskId } = (await admin('mutation { export { response { message } taskId } }')).data.export;
  expect(response.message).toBe(`Export queued with ID ${taskId}`);
  await expect
    .poll(async () => (await admin(`{ task(input: {id: "${taskId}"}) { status } }`)).data.task.status)
    .toBe('Success');
  const { lastUpdated } = (await admin(`{ task(input: {id: "${taskId}"}) { lastUpdated } }`)).data.task;
  expect(Math.abs(Date.now() - Date.parse(lastUpdated))).toBeLessThan(60_000);
});

it('refuses places outside of that folder, and tasks that it does not know', async () => {
  const outside = await admin('mutation { export(input: {destination: "/tmp/graphstead-elsewhere"}) { taskId } }');
  expect(outside.errors[0].extensions).toMatchObject({
    code: 'INVALID_REQUEST',
    fix: expect.stringContaining('graphstead export'),
  });
  expect(existsSync('/tmp/graphstead-elsewhere')).toBe(false);
  const unknown = await admin('{ task(input: {id: "0x1"}) { status } }');
  expect(unknown.errors[0].extensions.code).toBe('NOT_FOUND');
});
