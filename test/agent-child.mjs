// A service of agents on an embedded store, run by the durability test in a process that it kills.
//   node test/agent-child.mjs load|verify DIRECTORY APP_DIR BUNDLE
// `load` sends messages for ever and prints a line for each acknowledgement; `verify` waits until nothing waits and
// prints what the agents hold.
import { agentsApplier, createAgents, createHosts } from '../build/rooms/agents/index.js';
import { makeLimits } from '../build/rooms/base/index.js';
import { createCommitter } from '../build/rooms/commit/index.js';
import { openLmdbStore } from '../build/rooms/store/index.js';

const [mode, directory, appDir, bundle] = process.argv.slice(2);
const limits = makeLimits({ diskReserve: 1 });
const store = await openLmdbStore(directory);
const committer = await createCommitter({ store, appliers: [agentsApplier(limits)], limits });
const hosts = createHosts({ limits, count: 1 });
const agents = createAgents({ committer, incarnation: store.incarnation, hosts, limits });
await hosts.load({ appDir, bundle });
await agents.resume();

const say = (line) => process.stdout.write(`${line}\n`);

async function load() {
  const run = `${process.pid}`;
  const found = await agents.list();
  while (found.length < 4) found.push(await agents.start('Ledger'));
  say('ready');
  for (let i = 0; ; i++) {
    await Promise.all(
      found.map(async ({ id }, k) => {
        const entry = `${run}-${i}-${k}`;
        const to = found[(k + 1) % found.length].id;
        if (i % 3 === 0) await agents.sendAsync(id, 'note', entry);
        else if (i % 3 === 1) await agents.send(id, 'note', entry);
        else await agents.send(id, 'forward', `${to} ${entry}`);
        say(`${i % 3 === 2 ? to : id} ${entry}`);
      }),
    );
  }
}

async function verify() {
  for (;;) {
    const all = await agents.list();
    if (all.every((agent) => agent.waiting === 0)) break;
    await new Promise((again) => setTimeout(again, 10));
  }
  for (const { id } of await agents.list()) say(`${id} ${await agents.send(id, 'all')}`);
  await agents.close();
  await hosts.close();
  await committer.close();
  await store.close();
}

await (mode === 'load' ? load() : verify());
