import { parentPort } from 'node:worker_threads';
import { GraphsteadError, GraphsteadErrors, internal } from '../../base/index.js';
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
  const { code, message, position, fix } = error instanceof GraphsteadError ? error : internal(String(error));
  return { code, message, position, fix };
}

parentPort?.on('message', (source: AppSource) => parentPort?.postMessage(answer(source)));
