import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import type { GraphTransaction } from '../contract.js';
import { OUTSIDE } from '../graph-rpc.js';
import { Marks } from './marks.js';

let marks: Marks;
let staged: string[];
let marked: number;
/** what taking back fails with, where it does */
let broken: Error | undefined;

const transaction = {
  async mark() {
    marked++;
    await nextTurn();
    const { length } = staged;
    return async () => {
      if (broken !== undefined) throw broken;
      staged.length = length;
    };
  },
} as GraphTransaction;

const put = (id: number, text: string) => marks.write(id, transaction, async () => void staged.push(text));
/** A write, and what has it staged. */
function putSlowly(id: number): [Promise<void>, () => void] {
  let stage = () => {};
  const now = new Promise<void>((resolve) => {
    stage = resolve;
  });
  return [marks.write(id, transaction, () => now.then(() => void staged.push('slow'))), stage];
}

const refusal = { code: 'INVALID_REQUEST', message: expect.stringContaining('has failed') };

beforeEach(() => {
  marks = new Marks();
  staged = [];
  marked = 0;
  broken = undefined;
});

describe('graph.transaction calls of a turn', () => {
  it('are taken back one inside the other, from the innermost on', async () => {
    await put(OUTSIDE, 'turn');
    // a place to go back to is kept for who may go there, once
    expect(marked).toBe(0);
    await put(1, 'outer');
    marks.nest(2, 1);
    await Promise.all([put(2, 'middle'), put(2, 'middle too')]);
    marks.nest(3, 2);
    await put(3, 'inner');
    await put(3, 'inner too');
    await marks.undo(3);
    expect(staged).toEqual(['turn', 'outer', 'middle', 'middle too']);
    await put(2, 'middle again');
    await marks.undo(2);
    expect(staged).toEqual(['turn', 'outer']);
    await put(1, 'outer again');
    await marks.undo(1);
    expect(staged).toEqual(['turn']);
    await put(OUTSIDE, 'turn goes on');
    expect([staged, marked]).toEqual([['turn', 'turn goes on'], 3]);
    marks.assertWhole();
  });

  it('take along what ended well inside them, which has nothing left to take back then', async () => {
    await put(1, 'outer');
    marks.nest(2, 1);
    marks.nest(3, 2);
    await put(3, 'inner');
    await marks.undo(1);
    await put(OUTSIDE, 'turn');
    // they hear of it late
    await marks.undo(3);
    await marks.undo(2);
    expect(staged).toEqual(['turn']);
    marks.assertWhole();
  });

  it('leave one beside them alone, inside of the same one too', async () => {
    await put(1, 'outer');
    for (const id of [2, 3]) {
      marks.nest(id, 1);
      await put(id, `inner ${id}`);
    }
    await marks.undo(3);
    expect(staged).toEqual(['outer', 'inner 2']);
    marks.nest(4, 1);
    await put(4, 'inner 4');
    // behind it stands what is none of its own
    await marks.undo(2);
    expect(() => marks.assertWhole()).toThrow('its turn wrote something else meanwhile');
  });

  it('are refused inside one that has failed, however deep, and so is what they write', async () => {
    marks.nest(2, 1);
    await marks.undo(1);
    expect(() => marks.nest(3, 2)).toThrow(expect.objectContaining(refusal));
    // begun all the same, it stands where it was begun
    for (const id of [1, 2, 3]) await expect(put(id, 'late')).rejects.toMatchObject(refusal);
    await put(4, 'beside');
    expect(staged).toEqual(['beside']);
    marks.assertWhole();
  });

  it('wait for what they have under way before it is taken back', async () => {
    const [slow, stage] = putSlowly(1);
    const undone = marks.undo(1);
    await expect(put(1, 'late')).rejects.toMatchObject(refusal);
    stage();
    await Promise.all([slow, undone]);
    expect(staged).toEqual([]);
    marks.assertWhole();
  });

  it('are taken back although something of them was refused', async () => {
    await put(1, 'one');
    await expect(marks.write(1, transaction, () => Promise.reject(new Error('no such type')))).rejects.toThrow('type');
    await marks.undo(1);
    expect(staged).toEqual([]);
    marks.assertWhole();
  });

  it('end their turn where they cannot be taken back, and say why', async () => {
    await put(1, 'one');
    broken = new Error('the transaction has ended');
    await expect(marks.undo(1)).rejects.toThrow('has ended');
    expect(() => marks.assertWhole()).toThrow(/cannot be taken back: the transaction has ended/);
  });

  it('count for good behind a checkpoint, those inside them too; what follows it does not', async () => {
    await put(1, 'one');
    marks.land();
    await marks.undo(2);
    marks.assertWhole();
    await put(3, 'three');
    await marks.undo(3);
    expect(staged).toEqual(['one']);
    marks.assertWhole();
    await marks.undo(1);
    expect(() => marks.assertWhole()).toThrow('a checkpoint has made some of it count');
  });

  it('count for good where a checkpoint comes while they wait to be taken back', async () => {
    const [slow, stage] = putSlowly(1);
    const undone = marks.undo(1);
    marks.land();
    stage();
    await Promise.all([slow, undone]);
    expect(staged).toEqual(['slow']);
    expect(() => marks.assertWhole()).toThrow('a checkpoint has made some of it count');
  });
});
