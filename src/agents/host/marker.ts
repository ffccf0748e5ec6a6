import { writeSync } from 'node:fs';
import { MARKER_FD } from '../protocol.js';

// Whose code holds the thread right now, where the main process can read it when this process answers nothing: eight
// bytes in a file that both have open (about a microsecond each). It is set only around code that runs at once; what
// goes on after an await is unmarked, and a hang there is found by running its suspects again.
const mark = Buffer.alloc(8);
let works = true;

function write(id: number): void {
  if (!works) return;
  mark.writeDoubleLE(id);
  try {
    writeSync(MARKER_FD, mark, 0, 8, 0);
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
    write(0);
  }
}
