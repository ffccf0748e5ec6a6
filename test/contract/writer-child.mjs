// A process that writes until it is killed, and says on stdout what was acknowledged. Started by lmdb-crash.test.ts.
import { createCommitter } from '../../build/rooms/commit/index.js';
import { CounterApplier } from '../../build/rooms/commit/testing/counter-applier.js';
import { KeyWriter, openLmdbStore } from '../../build/rooms/store/index.js';
import { makeLimits } from '../../build/rooms/base/index.js';

const [mode, directory, given] = process.argv.slice(2);
const entries = Number(given ?? 50);
const limits = makeLimits({ ballastBytes: 1, diskReserve: 1 });
const keys = new KeyWriter('graph');
const say = (...words) => process.stdout.write(`${words.join(' ')}\n`);

const modes = {
  /** batches of three keys each, one after the other */
  async store(store) {
    const first = store.snapshot();
    let version = first.version;
    first.release();
    for (;;) {
      version++;
      const value = Buffer.alloc(1_000, version % 251);
      const puts = [1, 2, 3].map((part) => ({ key: keys.uint(version).uint(part).key(), value }));
      await store.apply({ version, puts }, { expectEpoch: store.epoch });
      say(version);
    }
  },

  /** the same keys again and again in large batches, and one key in a small batch after each */
  async large(store) {
    const first = store.snapshot();
    let version = first.version;
    first.release();
    for (;;) {
      version++;
      const ids = version % 2 === 0 ? [entries] : Array.from({ length: entries }, (_, id) => id);
      const puts = ids.map((id) => ({ key: keys.uint(id).key(), value: Buffer.alloc(100, version % 251) }));
      await store.apply({ version, puts }, { expectEpoch: store.epoch });
      say(version);
    }
  },

  /** sixteen clients that count, and that start transactions now and then */
  async commit(store) {
    const committer = await createCommitter({ store, appliers: [new CounterApplier()], limits });
    const client = async (id) => {
      for (let i = 0; ; i++) {
        if (i % 5 === 0) {
          const { startTs, snapshot } = await committer.begin();
          snapshot.release();
          say('start', startTs);
        }
        const parts = {
          counters: {
            add: [
              ['all', 1],
              [`client${id}`, 1],
            ],
          },
        };
        const { commitTs } = await committer.commit({ startTs: 0, conflicts: [], parts });
        say('commit', commitTs, id);
      }
    };
    await Promise.all(Array.from({ length: 16 }, (_, id) => client(id)));
  },

  /** writes until there is no room; then reads, and says how that went */
  async full(store) {
    let version = 0;
    for (;;) {
      const puts = Array.from({ length: entries }, (_, i) => ({
        key: keys
          .uint(version + 1)
          .uint(i)
          .key(),
        value: Buffer.alloc(150_000 / entries, 1),
      }));
      try {
        await store.apply({ version: version + 1, puts }, { expectEpoch: store.epoch });
      } catch (thrown) {
        say('refused', thrown.code);
        break;
      }
      version++;
    }
    const snapshot = store.snapshot();
    const all = snapshot.range({ start: keys.key(), end: Uint8Array.of(255), keysOnly: true, limit: 1_000_000 });
    say('read', snapshot.version, version, all.keys.length);
    snapshot.release();
    // freeing pages lets small writes go on in the room that the file has
    const again = { version: version + 1, puts: [{ key: keys.uint(1).uint(0).key(), value: undefined }] };
    await store.apply(again, { expectEpoch: store.epoch }).then(
      () => say('again ok'),
      (thrown) => say('again', thrown.code),
    );
    await store.close();
  },

  /** reads one version and does not let go of it */
  async hold(store) {
    const snapshot = store.snapshot();
    say('held', snapshot.version);
    setInterval(() => snapshot.version, 1_000);
  },

  /** opens although another process writes, writes once, and ends */
  async steal(store) {
    const snapshot = store.snapshot();
    const version = snapshot.version + 1;
    snapshot.release();
    await store.apply(
      { version, puts: [{ key: keys.uint(0).key(), value: Buffer.from('stolen') }] },
      {
        expectEpoch: store.epoch,
      },
    );
    say('epoch', store.epoch);
    await store.close();
  },
};

try {
  const store = await openLmdbStore(directory, { limits, takeOver: mode === 'steal', readOnly: mode === 'hold' });
  await modes[mode](store);
} catch (thrown) {
  say('error', thrown.code, thrown.message);
}
