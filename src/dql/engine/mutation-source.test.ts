import { expect, it } from 'vitest';
import { dgraphNames } from '../../base/index.js';
import type { MutationSource } from '../contract.js';
import { readMutationSteps } from './mutation-source.js';

/** Most characters that are read without a stop; a text of so many is read well within 10 ms. */
const MOST = 20_000;
const LONG = 500_000;

const rdf = (inside: string): MutationSource => ({ contentType: 'rdf', body: `{ set {${inside}} }` });
const json = (body: string): MutationSource => ({ contentType: 'json', body });
const members = (each: (i: number) => string) => Array.from({ length: LONG / 12 }, (_, i) => each(i)).join();

it.each<[string, MutationSource, number]>([
  ['empty lines', rdf('\n'.repeat(LONG)), 0],
  ['empty lines before a statement', rdf(`${'\n'.repeat(LONG)}_:a <name> "Ann" .`), 1],
  ['comments', rdf('#\n'.repeat(LONG / 2)), 0],
  ['keys of one node', json(`{"set": {${members((i) => `"key${i}": 1`)}}}`), Math.floor(LONG / 12)],
  ['a key that stands again and again', json(`{"set": {${members(() => '"key": 1234')}}}`), 1],
])('reads %s with stops between', (_, source, triples) => {
  const steps = readMutationSteps(source, { names: dgraphNames }); // which take a key twice
  let stops = 0;
  for (;;) {
    const step = steps.next();
    if (step.done) {
      expect(step.value.mutations[0].set).toHaveLength(triples);
      break;
    }
    stops++;
  }
  // a block of RDF is looked through for its end, and then read
  const rest = source.contentType === 'rdf' ? LONG / 100_000 : 0;
  expect(stops - rest).toBeGreaterThan(LONG / MOST);
});
