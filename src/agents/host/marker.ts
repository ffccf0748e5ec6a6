import { writeSync } from 'node:fs';
import { HOST_FD, MARKS_BYTES, FILE_BYTES } from '../protocol.js';

// Whose code holds the thread right now, where the main process can read it when this process answers nothing: a number
// in a file that both have open (about a microsecond each). A positive number is certain: it stands while a task's
// first, synchronous part runs. A negative one is likely: it stays while what one message set off runs to its end. What
// timers and sockets call later is unmarked, and a hang there is found by running its suspects again. Behind it stands
// the newest task that has begun: those that came after it are no suspects. Last stands the task whose agent takes its
// stored state: no handler of it has run. Behind the marks stands the file of the app that is loaded.
const mark = Buffer.alloc(MARKS_BYTES);
let works = true;
/** the message at hand came alone: all that follows at once comes from it */
let alone = false;
/** others of its batch follow: their marks take the place of the last one */
let batched = false;
let standing = 0;
let begun = 0;
/** what a message that came alone set off has not run to its end yet */
let settling = false;

function write(id: number): void {
  standing = id;
  mark.writeDoubleLE(id);
  if (id > begun) {
    begun = id;
    mark.writeDoubleLE(begun, 8);
  }
  store();
}

function store(bytes = mark, at = 0): void {
  if (!works) return;
  try {
    writeSync(HOST_FD.marker, bytes, 0, bytes.length, at);
  } catch {
    works = false;
  }
}

/** Runs the synchronous part of a task under its mark. */
export function marked<T>(id: number, work: () => T): T {
  write(id);
  try {
    return work();
  } finally {
    if (!batched) write(alone ? -id : 0);
  }
}

/** Runs what brings a stored state into an agent, at once: part of a task that is marked. */
export function taking<T>(id: number, work: () => T): T {
  mark.writeDoubleLE(id, 16);
  store();
  try {
    return work();
  } finally {
    mark.writeDoubleLE(0, 16);
    store();
  }
}

/** The app's code is loaded: this file of it, and what that imports, comes next; '' when all of it is there. */
export function loading(file: string): void {
  const bytes = Buffer.alloc(FILE_BYTES);
  bytes.write(file);
  store(bytes, MARKS_BYTES);
}

/** Code that belongs to no task comes next. */
export function unmarked(): void {
  if (standing !== 0) write(0);
}

/** A task goes on with an answer it waited for. */
export function resumed(id: number): void {
  if (alone) write(-id);
}

/**
 * Handles a batch; marks of one that came alone stay until the thread is free again. `messages` are those that may run app
 * code: a batch without any, which may be read in one go with the one before, leaves the marks as they are.
 */
export function handling(messages: number, work: () => void): void {
  if (messages === 0) {
    work();
    return;
  }
  alone = messages === 1 && !settling;
  batched = !alone;
  work();
  batched = false;
  if (!alone) {
    unmarked();
    return;
  }
  settling = true;
  setImmediate(() => {
    settling = false;
    alone = false;
    unmarked();
  });
}
