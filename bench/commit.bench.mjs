// Durable single-mutation commits over HTTP. One client is held against what a commit cannot do without, in turn with it:
// the disk's write + fdatasync, LMDB's commit of the same entries, and a request that commits nothing.
import { closeSync, fdatasyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { open } from 'lmdb';
import { client, load, n, scratch, startService } from './service.mjs';
import { slowDisk, syncRate } from './slow-disk.mjs';
import { wire } from './wire.mjs';

export const name = 'Durable commits over HTTP (one mutation a request)';

const ROUNDS = 8;
const SLICE_MS = 250;
const PAGE = 4096;
/** LMDB's meta page, of which it writes so many bytes to end a commit. */
const META_BYTES = 128;
const PLACES = 256;
/** What a sync takes besides, on disks of machines that people rent. */
const SLOWER_US = [500, 1_000, 2_000];

const mutation = (i) => `{ set { _:a <name> "person ${i}" . _:a <age> "${i % 90}" . } }`;

export async function run(print) {
  const folder = scratch('disk');
  const service = await startService();
  const http = client(service.url);
  const one = await wire(service.url);
  try {
    await http.post('/alter', 'name: string @index(exact) .\nage: int .', 'text/plain');
    const mutate = async (i) => {
      const body = await http.post('/mutate?commitNow=true', mutation(i), 'application/rdf');
      if (!body.includes('Success')) throw new Error(body.toString());
    };
    await load({ clients: 16, ms: 1500, work: mutate });
    const many = await load({ clients: 64, ms: 6000, work: (i) => mutate(i + 1e6) });
    print('64 clients: commits/s, p50, p99', `${n(many.rate)}/s  ${n(many.p50, 1)} ms  ${n(many.p99, 1)} ms`);

    const bytes = await bytesOfCommit(service.pid, one);
    const probe = diskProbe(folder.dir, bytes);
    const bare = bareLmdb(folder.dir);
    const took = await inTurn({
      commit: (i) => commit(one, i + 1e7),
      disk: probe.write,
      'two syncs': probe.writeTwice,
      'lmdb, one entry': bare.commitOne,
      lmdb: bare.commit,
      request: () => one.post('/commit', '', 'application/json'),
    });
    const rate = (what) => 1000 / mean(took[what]);
    const line = (what) =>
      `${n(rate(what))}/s  p50 ${n(at(took[what], 0.5), 3)} ms  p99 ${n(at(took[what], 0.99), 1)} ms`;
    print('1 client: commits/s', line('commit'));
    print("the disk's write + fdatasync of one page, in place", line('disk'));
    print(`the bytes of a commit (${n(bytes / 1024)} KB) and its meta page, a sync each`, line('two syncs'));
    print('LMDB alone, one entry a commit', line('lmdb, one entry'));
    print('LMDB alone, the entries of such a commit', line('lmdb'));
    print('a request that commits nothing', line('request'));
    const floor = mean(took.lmdb) + mean(took.request);
    print('1 client against the disk', `${n(rate('commit') / rate('disk'), 2)}x`);
    print('1 client against the two syncs of a commit', `${n(rate('commit') / rate('two syncs'), 2)}x`);
    print('1 client against LMDB alone: one entry, the same', `${ratios(rate, 'lmdb, one entry', 'lmdb')}`);
    print('1 client against LMDB and a request, one after the other', `${n((rate('commit') * floor) / 1000, 2)}x`);
    await bare.close();
    probe.close();
    await onSlowerDisks(print, folder.dir);
  } finally {
    one.close();
    http.close();
    await service.stop();
    folder.remove();
  }
}

/** One client where the disk is what takes the time. */
async function onSlowerDisks(print, dir) {
  const slow = slowDisk(dir);
  if (slow === undefined) print('1 client on slower disks', 'left out: it takes a C compiler, on Linux');
  for (const us of slow ? SLOWER_US : []) {
    const service = await startService({ environment: slow(us) });
    const one = await wire(service.url);
    try {
      await one.post('/alter', 'name: string @index(exact) .\nage: int .', 'text/plain');
      const many = client(service.url);
      await load({
        clients: 64,
        ms: 3_000,
        work: (i) => many.post('/mutate?commitNow=true', mutation(i), 'application/rdf'),
      });
      many.close();
      await load({ clients: 1, ms: 1_000, work: (i) => commit(one, i) });
      const { rate, p50, p99 } = await load({ clients: 1, ms: 2_500, work: (i) => commit(one, i + 1e6) });
      const disk = syncRate(dir, slow(us));
      print(
        `1 client where a sync takes ${us / 1000} ms longer`,
        `${n(rate)}/s  p50 ${n(p50, 1)} ms  p99 ${n(p99, 1)} ms  ${n(rate / disk, 2)}x of the disk (${n(disk)}/s)`,
      );
    } finally {
      one.close();
      await service.stop();
    }
  }
}

const ratios = (rate, ...references) => references.map((what) => `${n(rate('commit') / rate(what), 2)}x`).join('  ');

async function commit(one, i) {
  const { status, body } = await one.post('/mutate?commitNow=true', mutation(i), 'application/rdf');
  if (status !== 200) throw new Error(body);
}

/** Milliseconds of each call of each of the works, which take turns: what the machine does besides is shared by all. */
async function inTurn(works) {
  const took = Object.fromEntries(Object.keys(works).map((what) => [what, []]));
  let count = 0;
  for (let round = -1; round < ROUNDS; round++) {
    for (const [what, work] of Object.entries(works)) {
      const end = performance.now() + SLICE_MS;
      for (let from = performance.now(); from < end; ) {
        await work(count++);
        const now = performance.now();
        if (round >= 0) took[what].push(now - from);
        from = now;
      }
    }
  }
  for (const times of Object.values(took)) times.sort((a, b) => a - b);
  return took;
}

const mean = (times) => times.reduce((sum, ms) => sum + ms, 0) / times.length;
const at = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];

/** What the service writes to the disk for a commit of one client (Linux counts it). */
async function bytesOfCommit(pid, one) {
  const commits = 300;
  const before = written(pid);
  for (let i = 0; i < commits; i++) await commit(one, i + 2e7);
  return Math.ceil((written(pid) - before) / commits / PAGE) * PAGE;
}

const written = (pid) => Number(/^write_bytes: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))[1]);

/** Writes to places of a file that exist: no commit of the file system's own journal is in it. */
function diskProbe(dir, bytes) {
  const fd = openSync(join(dir, 'probe'), 'w');
  const pages = Buffer.alloc(bytes, 1);
  for (let place = 0; place < PLACES; place++) writeSync(fd, pages, 0, bytes, place * bytes);
  fdatasyncSync(fd);
  const put = (length, i) => {
    writeSync(fd, pages, 0, length, (i % PLACES) * length);
    fdatasyncSync(fd);
  };
  return {
    write: (i) => put(PAGE, i),
    writeTwice: (i) => {
      put(bytes, i);
      put(META_BYTES, 0);
    },
    close: () => closeSync(fd),
  };
}

/** LMDB as the store opens it, with entries as a commit of one mutation has them: five, and the version. */
function bareLmdb(dir) {
  const options = {
    noSubdir: true,
    encoding: 'binary',
    overlappingSync: false,
    eventTurnBatching: false,
    pageSize: PAGE,
  };
  const root = open({ ...options, path: join(dir, 'bare.mdb'), maxDbs: 4, mapSize: 2 ** 32 });
  const data = root.openDB({ name: 'data', encoding: 'binary' });
  const meta = root.openDB({ name: 'meta', encoding: 'binary', useVersions: true });
  meta.putSync('epoch', Buffer.alloc(1), 1);
  const key = (kind, i) => `${kind}${String(i).padStart(12, '0')}`;
  const landed = async (puts) => {
    if (!(await meta.ifVersion('epoch', 1, puts))) throw new Error('LMDB did not commit');
  };
  return {
    commitOne: (i) => landed(() => void meta.put('version', Buffer.from(String(i)), 1)),
    commit: (i) =>
      landed(() => {
        void data.put(key('record', i), Buffer.alloc(260, i));
        void data.put(key('name', i >> 5), Buffer.alloc(400, i));
        void data.put(key('index', (i * 7_919) % 1e6), Buffer.alloc(4, i));
        void data.put(key('age', i >> 5), Buffer.alloc(150, i));
        void data.put('state', Buffer.alloc(33, i));
        void meta.put('version', Buffer.from(String(i)), 1);
      }),
    close: () => root.close(),
  };
}
