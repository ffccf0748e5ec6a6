import { expect, it } from 'vitest';
import { GraphsteadError } from '../../base/index.js';
import { ExportTasks } from './task.js';

/** Exports that end when the test says so. */
function exporting(most = 3) {
  const running: { folder: string; end: (failure?: Error) => void }[] = [];
  const failures: string[] = [];
  let now = Date.parse('2026-05-01T10:00:00Z');
  const tasks = new ExportTasks({
    root: '/data/export',
    write: (format, folder, signal) =>
      new Promise((resolve, reject) => {
        const end = (failure?: Error) => (failure ? reject(failure) : resolve([`${folder}/graph.${format}.gz`]));
        signal.addEventListener('abort', () => end(new GraphsteadError('CANCELLED', 'stopped', { fix: 'ask again' })));
        running.push({ folder, end });
      }),
    clock: { wall: () => (now += 1000), monotonic: () => 0 },
    limits: { exportTasks: most },
    failed: (id, { message }) => failures.push(`${id} ${message}`),
  });
  return { tasks, running, failures };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

it('runs one export after another, and tells what has become of each', async () => {
  const { tasks, running, failures } = exporting();
  const [first, second] = [tasks.start('rdf', undefined), tasks.start('json', 'nightly/graph.1')];
  await settled();
  expect([tasks.task(first.id)?.status, tasks.task(second.id)?.status]).toEqual(['Running', 'Queued']);
  running[0].end(new Error('no room'));
  await expect(first.done).rejects.toThrow('no room');
  await settled();
  expect([tasks.task(first.id)?.status, tasks.task(second.id)?.status]).toEqual(['Failed', 'Running']);
  expect(failures).toEqual([`${first.id} no room`]);
  running[1].end();
  expect(await second.done).toEqual(['/data/export/nightly/graph.1/2026-05-01T10-00-05.000Z/graph.json.gz']);
  expect(tasks.task(second.id)).toMatchObject({ status: 'Success', lastUpdated: Date.parse('2026-05-01T10:00:06Z') });
});

it('refuses more than may wait, and remembers so many of the last', async () => {
  const { tasks, running } = exporting(2);
  const first = tasks.start('rdf', undefined);
  const second = tasks.start('rdf', undefined);
  expect(() => tasks.start('rdf', undefined)).toThrow('2 exports wait already (limits.exportTasks)');
  await settled();
  running[0].end();
  await first.done;
  const third = tasks.start('rdf', undefined);
  expect([first, second, third].map(({ id }) => tasks.task(id)?.status)).toEqual([undefined, 'Queued', 'Queued']);
});

it('stops the one that runs and those that wait', async () => {
  const { tasks, running } = exporting();
  const both = [tasks.start('rdf', undefined), tasks.start('rdf', undefined)];
  await settled();
  await tasks.close();
  expect(both.map(({ status }) => status)).toEqual(['Failed', 'Failed']);
  expect(running).toHaveLength(1);
});

it.each(['/tmp', '..', '../other', 'a/../../b', 's3://bucket/a', 'a//b', 'a/', '.hidden', '', 'a\\b', 'a\0'])(
  'writes nowhere but inside the folder of exports: %j',
  (destination) => {
    expect(() => exporting().tasks.start('rdf', destination)).toThrow('is no folder inside that of exports');
  },
);
