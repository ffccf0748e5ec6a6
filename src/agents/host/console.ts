import { format, type InspectOptions, inspect } from 'node:util';
import { tell } from './link.js';
import { currentTask } from './task.js';

type Level = 'debug' | 'info' | 'warn' | 'error';

const LEVELS: Readonly<Record<string, Level>> = {
  debug: 'debug',
  trace: 'debug',
  log: 'info',
  info: 'info',
  warn: 'warn',
  error: 'error',
};
/** Bytes of one line that are kept: a log is no place for a payload. */
const LINE = 16 * 1024;

/** Sends what app code writes to the console to the main process, with the task it was written in. */
export function captureConsole(): void {
  for (const [method, level] of Object.entries(LEVELS)) {
    Object.assign(console, {
      [method]: (...values: unknown[]) => {
        tell({ k: 'log', id: currentTask()?.id, level, message: format(...values).slice(0, LINE) });
      },
    });
  }
  // It writes to the output itself, where nobody knows of the task.
  console.dir = (value: unknown, options?: InspectOptions) =>
    console.log(inspect(value, { customInspect: false, ...options }));
}
