// Kills a service with SIGKILL in the middle of load, again and again, and counts what became of everything.
//   node bench/kill-rounds.mjs ROUNDS [SEED]      prints the verdict as one JSON line; exit code 1 when a promise broke
// In every other round it loses its power, too, as far as its store can tell. The app is bench/app-ledger. Every client
// sends on until its message is acknowledged, under the same Idempotency-Key; its n-th note must answer n, whichever
// process answered in the end. Streams of events go on with Last-Event-ID.
import { execFileSync } from 'node:child_process';
import { closeSync, cpSync, existsSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { family } from './family.mjs';
import { root, scratch, startService } from './service.mjs';

/** agents that take notes; as many others take what those send, so that no two wait for each other */
const AGENTS = 4;
const CLIENTS = 8;
const SETTLE_MS = 120_000;
/** of the data file */
const PAGE_BYTES = 4096;
const EFFECTS = ['told', 'plain', 'mailed', 'forwarded', 'asked', 'rung'];

/** Numbers in [0, 1) that a seed decides. */
export function seeded(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

class Load {
  /** counts that must come true, by agent */
  expected = new Map();
  broken = [];
  errors = new Map();
  acknowledged = 0;
  retried = 0;
  onAcknowledged = () => undefined;
  #stopped = false;

  /** @param url gives the address of the service that runs now */
  constructor(url) {
    this.url = url;
  }

  async graphql(query, variables, key) {
    const headers = { 'content-type': 'application/json', ...(key ? { 'idempotency-key': key } : {}) };
    const body = JSON.stringify({ query, variables });
    const answer = await (await fetch(`${await this.url()}/graphql`, { method: 'POST', headers, body })).json();
    if (answer.errors === undefined) return answer.data;
    const code = answer.errors[0].extensions?.code ?? 'none';
    this.errors.set(code, (this.errors.get(code) ?? 0) + 1);
    throw new Error(`${code}: ${answer.errors[0].message}`);
  }

  /** Sends until it is acknowledged. */
  async surely(query, variables, key) {
    for (;;) {
      try {
        const data = await this.graphql(query, variables, key);
        this.acknowledged++;
        this.onAcknowledged();
        return data;
      } catch (error) {
        if (/^(MESSAGE_UNKNOWN|AGENT_UNKNOWN|INVALID|VALIDATION|IDEMPOTENCY)/.test(error.message)) throw error;
        this.retried++;
        await new Promise((again) => setTimeout(again, 5));
      }
    }
  }

  async start() {
    for (let i = 0; i < 2 * AGENTS; i++) {
      const { startLedger: id } = await this.surely('mutation { startLedger }', {}, `start-${i}`);
      this.expected.set(id, { told: 0, plain: 0, mailed: 0, forwarded: 0, asked: 0, rung: 0, unsure: 0 });
    }
    this.ids = [...this.expected.keys()];
  }

  run() {
    this.#stopped = false;
    this.running = Promise.all(Array.from({ length: CLIENTS }, (_, i) => this.#client(i)));
  }

  /** Resolves once every message that was begun is acknowledged. */
  stop() {
    this.#stopped = true;
    return this.running;
  }

  #steps = Array(CLIENTS).fill(0);
  #notes = new Map();

  async #client(i) {
    const client = `c${i}`;
    while (!this.#stopped) {
      const step = this.#steps[i]++;
      const id = this.ids[(i + step) % AGENTS];
      const to = this.ids[AGENTS + ((2 * i + step) % AGENTS)];
      if (step % 4 === 3) await this.#plain(to);
      else if (step % 4 === 1) await this.#mail(to, `${client}-${step}`);
      else await this.#note(client, id, to, `${client}-${step}`);
    }
  }

  async #note(client, id, to, key) {
    const query =
      'mutation ($id: String!, $client: String!, $to: String!) { addNote(id: $id, client: $client, to: $to) }';
    const { addNote } = await this.surely(query, { id, client, to }, key);
    const counted = `${id} ${client}`;
    const count = (this.#notes.get(counted) ?? 0) + 1;
    this.#notes.set(counted, count);
    if (addNote !== String(count)) this.broken.push(`note ${count} of ${client} for ${id} was answered ${addNote}`);
    const [own, other] = [this.expected.get(id), this.expected.get(to)];
    own.told++;
    own.rung++;
    other.forwarded++;
    other.asked++;
  }

  async #mail(id, key) {
    await this.surely('mutation ($id: String!) { addMail(id: $id) }', { id }, key);
    this.expected.get(id).mailed++;
  }

  /** Without a key, and sent once: an answer says that it happened, no answer says nothing. */
  async #plain(id) {
    const expected = this.expected.get(id);
    try {
      await this.graphql('mutation ($id: String!) { addPlain(id: $id) }', { id });
      expected.plain++;
      this.acknowledged++;
      this.onAcknowledged();
    } catch {
      expected.unsure++;
    }
  }
}

/** Follows the events of one agent over all restarts. */
class Follower {
  counts = [];
  ids = [];
  #last;
  #done = new AbortController();

  constructor(url, id) {
    this.url = url;
    this.id = id;
    this.opened = new Promise((opened) => {
      this.following = this.#follow(opened);
    });
  }

  async #follow(opened) {
    while (!this.#done.signal.aborted) {
      try {
        await this.#read(opened);
      } catch {
        await new Promise((again) => setTimeout(again, 5));
      }
    }
  }

  async #read(opened) {
    const query = `subscription { agentEvent(agentId: "${this.id}") { name data } }`;
    const resume = this.#last === undefined ? {} : { 'last-event-id': this.#last };
    const response = await fetch(`${await this.url()}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...resume },
      body: JSON.stringify({ query }),
      signal: this.#done.signal,
    });
    opened();
    let rest = '';
    for await (const part of response.body.pipeThrough(new TextDecoderStream())) {
      const frames = (rest + part).split('\n\n');
      rest = frames.pop();
      for (const frame of frames) this.#take(frame);
    }
  }

  #take(frame) {
    const fields = Object.fromEntries(
      frame.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]),
    );
    if (fields.event !== 'next') return;
    this.#last = fields.id ?? this.#last;
    const { name, data } = JSON.parse(fields.data).data.agentEvent;
    this.ids.push(fields.id);
    this.counts.push(name === 'noted' ? data.count : name);
  }

  close() {
    this.#done.abort();
    return this.following;
  }
}

/** What is wrong with the numbers of one agent; [] when all is as it must be. */
function mistakesOf(id, expected, shown, follower) {
  const wrong = [];
  for (const effect of EFFECTS) {
    const least = expected[effect];
    const most = least + (effect === 'plain' ? expected.unsure : 0);
    if (shown[effect] < least) wrong.push(`${id}: ${effect} ${shown[effect]} of ${least}: lost`);
    if (shown[effect] > most) wrong.push(`${id}: ${effect} ${shown[effect]} of ${most}: applied twice`);
  }
  const counts = follower.counts.join();
  const all = Array.from({ length: expected.told }, (_, i) => i + 1).join();
  if (counts !== all) wrong.push(`${id}: events ${counts.slice(0, 200)} instead of 1 to ${expected.told}`);
  if (new Set(follower.ids).size !== follower.ids.length) wrong.push(`${id}: an event id came twice`);
  return wrong;
}

async function look(load, followers) {
  const wrong = [];
  for (const [i, id] of load.ids.entries()) {
    const { showLedger, countDeadLetters } = await load.graphql(
      `{ showLedger(id: "${id}") countDeadLetters(id: "${id}") }`,
    );
    wrong.push(...mistakesOf(id, load.expected.get(id), JSON.parse(showLedger), followers[i]));
    if (countDeadLetters > 0) wrong.push(`${id}: ${countDeadLetters} dead letters`);
  }
  return [...wrong, ...(await wrongNodes(load))];
}

async function wrongNodes(load) {
  const wrong = [];
  const response = await fetch(`${await load.url()}/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/dql' },
    body: '{ q(func: has(Entry.of)) { Entry.of Entry.text } }',
  });
  const nodes = (await response.json()).data.q.map((node) => `${node['Entry.of']} ${node['Entry.text']}`);
  const told = [...load.expected.values()].reduce((sum, one) => sum + one.told, 0);
  if (nodes.length !== told) wrong.push(`${nodes.length} nodes for ${told} notes`);
  if (new Set(nodes).size !== nodes.length) wrong.push('a node was written twice');
  return wrong;
}

/** It has ended; what nobody has waited for yet counts as ended. */
function gone(pid) {
  try {
    return /\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return true;
  }
}

/**
 * Puts a copy in the place of a data directory, which no cache holds, and takes from its data file what tells which state counts:
 * what is not behind the last checkpoint must come from the log. False where the store is elsewhere, or cannot tell.
 */
function losePower(data) {
  if (!existsSync(join(data, 'data.mdb')) || !existsSync('/proc/sys/kernel/random/boot_id')) return false;
  const copy = `${data}-copy`;
  cpSync(data, copy, { recursive: true });
  rmSync(data, { recursive: true });
  renameSync(copy, data);
  const file = openSync(join(data, 'data.mdb'), 'r+');
  writeSync(file, Buffer.alloc(2 * PAGE_BYTES), 0, 2 * PAGE_BYTES, 0);
  closeSync(file);
  return true;
}

/** Every process of the service ends with it. */
async function allGone(pids) {
  const from = performance.now();
  while (pids.some((pid) => !gone(pid))) {
    if (performance.now() - from > SETTLE_MS) return false;
    await new Promise((again) => setTimeout(again, 20));
  }
  return true;
}

/** @returns what was sent, and `broken`: one line for each promise that was not kept */
export async function killRounds(rounds, seed, tell = () => undefined) {
  const random = seeded(seed);
  const folder = scratch('kill');
  const built = join(folder.dir, 'app');
  execFileSync(process.execPath, [
    join(root, 'bin/graphstead.js'),
    'build',
    join(root, 'bench/app-ledger'),
    '--out',
    built,
    // `npm run types` does it
    '--no-type-check',
  ]);
  const data = join(folder.dir, 'data');
  const open = () => startService({ appDir: built, data });
  let service = open();
  const url = async () => (await service).url;
  const load = new Load(url);
  let [hostKills, powerCuts] = [0, 0];
  const openWithout = () => {
    if (losePower(data)) powerCuts++;
    return open();
  };
  try {
    await load.start();
    const followers = load.ids.map((id) => new Follower(url, id));
    await Promise.all(followers.map(({ opened }) => opened));
    load.run();
    for (let round = 0; round < rounds; round++) {
      const running = await service;
      const after = 5 + Math.floor(random() * 120);
      const hostAfter = random() < 0.3 ? Math.floor(after / 2) : Number.POSITIVE_INFINITY;
      await acknowledgements(load, Math.min(after, hostAfter));
      if (hostAfter < after) {
        const hosts = family(running.pid).slice(1);
        process.kill(hosts[Math.floor(random() * hosts.length)], 'SIGKILL');
        hostKills++;
        await acknowledgements(load, after - hostAfter);
      }
      const pids = family(running.pid);
      const killed = running.stop('SIGKILL');
      service = killed.then(round % 2 === 1 ? openWithout : open);
      await killed;
      if (!(await allGone(pids))) load.broken.push(`round ${round}: a process outlived its service`);
      await service;
      tell(round + 1, load);
    }
    await load.stop();
    const from = performance.now();
    let wrong = await look(load, followers);
    while (wrong.length > 0 && performance.now() - from < SETTLE_MS) {
      await new Promise((again) => setTimeout(again, 100));
      wrong = await look(load, followers);
    }
    await Promise.all(followers.map((follower) => follower.close()));
    const { acknowledged, retried, errors, broken } = load;
    const events = followers.reduce((sum, { counts }) => sum + counts.length, 0);
    const unsure = [...load.expected.values()].reduce((sum, one) => sum + one.unsure, 0);
    return {
      rounds,
      hostKills,
      powerCuts,
      acknowledged,
      retried,
      unsure,
      events,
      errors: Object.fromEntries(errors),
      broken: [...broken, ...wrong],
    };
  } finally {
    await (await service).stop('SIGKILL');
    folder.remove();
  }
}

/** Resolves when so many more messages were acknowledged. */
function acknowledgements(load, count) {
  return new Promise((done) => {
    let left = count;
    load.onAcknowledged = () => {
      if (--left <= 0) done();
    };
  });
}

if (process.argv[1]?.endsWith('kill-rounds.mjs')) {
  const [rounds = 10, seed = 1] = process.argv.slice(2).map(Number);
  const verdict = await killRounds(rounds, seed, (round, load) => {
    if (process.env.VERBOSE)
      console.error(round, load.acknowledged, load.retried, JSON.stringify(Object.fromEntries(load.errors)));
  });
  console.log(JSON.stringify(verdict));
  process.exit(verdict.broken.length > 0 ? 1 : 0);
}
