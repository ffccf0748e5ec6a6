import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { testFolder } from '../../test/folder.js';
import { assert } from '../base/index.js';
import type { Batch } from './contract.js';
import { KeyWriter } from './key.js';
import { HALF_BYTES, missingBatches, readLog, RedoLog, SLOT_BYTES } from './redo-log.js';
import { decodeBatch, encodeSlot, entryIn } from './redo-slot.js';

const keys = new KeyWriter('graph');
const key = (id: number): Uint8Array => keys.uint(id).key();
const value = (id: number, version: number, bytes = 60): Uint8Array => Buffer.alloc(bytes, `${version}.${id} `);

describe('a log', () => {
  const OWNER = { epoch: 3, incarnation: 'one' };
  const small = (version: number): Batch => ({
    version,
    puts: [{ key: key(version), value: value(version, version) }],
  });
  const large: Batch = { version: 9, puts: [{ key: key(9), value: Buffer.alloc(SLOT_BYTES) }] };
  let directory: string;
  let log: RedoLog;
  const versions = (): number[] => missingBatches(readLog(directory), OWNER, 0).map(({ version }) => version);

  beforeEach(async () => {
    directory = testFolder();
    log = await RedoLog.create(directory, OWNER.epoch, { head: '', incarnation: OWNER.incarnation });
  });
  afterEach(async () => {
    log.close();
  });

  it('goes by the checkpoint before, where the last one is half written', async () => {
    log.turn();
    await log.check({ head: 'later', incarnation: OWNER.incarnation });
    expect(readLog(directory)?.checkpoint).toMatchObject({ sequence: 1, head: 'later' });
    const path = join(directory, 'redo-3.log');
    const bytes = readFileSync(path);
    bytes.write('other', bytes.indexOf('later'));
    writeFileSync(path, bytes);
    expect(readLog(directory)?.checkpoint).toMatchObject({ sequence: 0, head: '' });
  });

  it('forgets the batch that was given last, and no other', async () => {
    expect([await log.write(small(1), 0), await log.write(small(2), 1)]).toEqual([true, true]);
    expect(versions()).toEqual([1, 2]);
    expect(await log.forget()).toBe(true);
    expect(versions()).toEqual([1]);
  });

  it('is full while another batch may have no room, and begins behind its last checkpoint from then on', async () => {
    const medium = (version: number): Batch => ({ version, puts: [{ key: key(1), value: Buffer.alloc(60_000) }] });
    let version = 0;
    while (!log.isFull) expect(await log.write(medium(version + 1), version++)).toBe(true);
    const most = Math.floor(HALF_BYTES / 60_000);
    expect(versions()).toEqual(Array.from({ length: version }, (_, i) => i + 1));
    expect(version).toBeGreaterThan(most / 2);
    log.turn();
    expect(log.isFull).toBe(false);
    // the new half counts from its first batch on, with the old one until it has a checkpoint
    await log.write(small(version + 1), version);
    expect(versions()).toHaveLength(version + 1);
    expect(readLog(directory)?.checkpoint.head).toBe('');
    await log.check({ head: 'b', incarnation: OWNER.incarnation });
    expect(readLog(directory)?.checkpoint.head).toBe('b');
    log.turn();
    await log.write(small(version + 2), version + 1);
    expect(missingBatches(readLog(directory), OWNER, version).map((one) => one.version)).toEqual([
      version + 1,
      version + 2,
    ]);
    expect(versions()).toEqual([]);
  });

  it('is full after so many small batches, too: each is one for LMDB to tidy up behind', async () => {
    for (let version = 1; version <= 32; version++) {
      expect(log.isFull).toBe(false);
      await log.write(small(version), version - 1);
    }
    expect(log.isFull).toBe(true);
    log.turn();
    expect(log.isFull).toBe(false);
  });

  it('has no batch for another file, nor for another epoch', async () => {
    await log.write(small(1), 0);
    expect(versions()).toEqual([1]);
    expect(missingBatches(readLog(directory), { ...OWNER, incarnation: 'other' }, 0)).toEqual([]);
    expect(missingBatches(readLog(directory), { ...OWNER, epoch: OWNER.epoch + 1 }, 0)).toEqual([]);
  });

  it('keeps the batch before when one too large for a slot is forgotten', async () => {
    expect([await log.write(small(1), 0), await log.write(large, 1)]).toEqual([true, false]);
    expect(await log.forget()).toBe(true);
    expect(versions()).toEqual([1]);
  });
});

describe('a slot', () => {
  const slot = Buffer.alloc(SLOT_BYTES);

  it('gives back the batch that was put in', () => {
    const bytes = (max: number) => fc.uint8Array({ maxLength: max });
    const named = fc.uint8Array({ minLength: 1, maxLength: 1_024 });
    const batch = fc.record({
      version: fc.integer({ min: 1, max: 2 ** 50 }),
      puts: fc.array(fc.record({ key: named, value: fc.option(bytes(3_900), { nil: undefined }) }), { maxLength: 9 }),
      deleteRanges: fc.array(fc.record({ start: named, end: named }), { maxLength: 3 }),
    });
    fc.assert(
      fc.property(batch, (one) => {
        expect(encodeSlot(slot, one, one.version - 1)).toBeGreaterThan(0);
        const entry = entryIn(slot);
        assert(entry !== undefined, 'a slot that was written');
        expect(entry.previous).toBe(one.version - 1);
        const { version, puts, deleteRanges = [] } = decodeBatch(entry);
        expect([entry.version, version]).toEqual([one.version, one.version]);
        expect(puts.map((put) => [[...put.key], put.value && [...put.value]])).toEqual(
          one.puts.map((put) => [[...put.key], put.value && [...put.value]]),
        );
        expect(deleteRanges.map(({ start, end }) => [[...start], [...end]])).toEqual(
          one.deleteRanges.map(({ start, end }) => [[...start], [...end]]),
        );
      }),
    );
  });

  it('refuses a batch that is too large for it, and half of one is nothing', () => {
    const large = Array.from({ length: 70 }, (_, i) => ({ key: key(i), value: Buffer.alloc(3_900) }));
    expect(encodeSlot(slot, { version: 2, puts: large }, 1)).toBeUndefined();
    const length = encodeSlot(slot, { version: 2, puts: large.slice(0, 9) }, 1) ?? 0;
    slot[length - 1] ^= 1;
    expect(entryIn(slot)).toBeUndefined();
    expect(entryIn(Buffer.alloc(SLOT_BYTES))).toBeUndefined();
    expect(entryIn(Buffer.alloc(0))).toBeUndefined();
  });
});
