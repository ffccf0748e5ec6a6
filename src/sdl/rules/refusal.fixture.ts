import { defaultNames, dgraphNames, GraphsteadErrors } from '../../base/index.js';
import { loadModel } from '../load.js';

/** `rule line: message` of every mistake; empty where the text is accepted. */
export function refusals(text: string, mode: 'default' | 'dgraph' = 'default'): string[] {
  try {
    loadModel(text, { names: mode === 'dgraph' ? dgraphNames : defaultNames });
    return [];
  } catch (error) {
    if (!(error instanceof GraphsteadErrors)) throw error;
    return error.errors.map((e) => `${e.details?.rule} ${e.position?.line}: ${e.message}`);
  }
}

/** Names of the rules that a text breaks, each once. */
export const broken = (text: string, mode?: 'default' | 'dgraph'): string[] => [
  ...new Set(refusals(text, mode).map((line) => line.split(' ')[0])),
];
