import { expect, it } from 'vitest';
import { type Heap, HeapWatch } from './heap-watch.js';

/** A heap of 1,000 bytes, 300 of which are the room that is kept. */
function opened() {
  const at = { used: 0, heard: undefined as ((startedAt: number) => void) | undefined };
  const heap: Heap = {
    size: () => ({ used: at.used, limit: 1_000 }),
    onCollected: (heard) => {
      at.heard = heard;
      return () => {
        at.heard = undefined;
      };
    },
  };
  const watch = new HeapWatch(heap);
  const asked = (used: number) => {
    at.used = used;
    return watch.mustGive();
  };
  /** A full collection that leaves so much in use. */
  const collect = (used: number, startedAt = performance.now()) => {
    at.used = used;
    at.heard?.(startedAt);
  };
  return { at, asked, collect };
}

it('hears collections only where much is taken, and asks for nothing by garbage alone', () => {
  const { at, asked, collect } = opened();
  expect(asked(500)).toBe(false);
  expect(at.heard).toBeUndefined();
  expect(asked(800)).toBe(false);
  expect(at.heard).toBeDefined();
  collect(400);
  expect(asked(800)).toBe(false);
  expect(asked(300)).toBe(false);
  expect(at.heard).toBeUndefined();
});

it('asks one to give where a collection left too much, and the next one by the next collection', () => {
  const { asked, collect } = opened();
  asked(650);
  const before = performance.now();
  collect(750);
  expect(asked(760)).toBe(true);
  expect(asked(760)).toBe(false);
  collect(750, before); // it has not seen what was given up
  expect(asked(760)).toBe(false);
  collect(750, performance.now() + 1);
  expect(asked(760)).toBe(true);
});

it('asks before any collection where hardly anything is free', () => {
  const { asked } = opened();
  expect(asked(840)).toBe(false);
  expect(asked(860)).toBe(true);
});

it('sees the heap of this process', () => {
  expect(new HeapWatch().mustGive()).toBe(false);
});
