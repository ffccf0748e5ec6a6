import { parentPort } from 'node:worker_threads';
import { GraphsteadError, GraphsteadErrors } from '../../base/index.js';
import type { AppSource } from '../app-source.js';
import type { WorkerAnswer } from '../reading-thread.js';
import { readSource } from './read-operations.js';

// Loading TypeScript and its library takes about a second of thread time: the service's thread goes on meanwhile.

function answer(source: AppSource): WorkerAnswer {
  try {
    return { reading: readSource(source) };
  } catch (thrown) {
    const errors = thrown instanceof GraphsteadErrors ? thrown.errors : [thrown];
    return { errors: errors.map((error) => plain(error)) };
  }
}

function plain(error: unknown): NonNullable<WorkerAnswer['errors']>[number] {
  if (!(error instanceof GraphsteadError)) return { code: 'INTERNAL', message: String(error) };
  const { code, message, position, fix } = error;
  return { code, message, position, fix };
}

parentPort?.on('message', (source: AppSource) => parentPort?.postMessage(answer(source)));
