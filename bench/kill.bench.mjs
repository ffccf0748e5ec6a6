// kill -9 in the middle of load, a hundred times: only when it is asked for by name, it takes minutes.
import { killRounds } from './kill-rounds.mjs';
import { n } from './service.mjs';

export const name = 'kill -9 in the middle of load';
export const onlyNamed = true;

const ROUNDS = 100;

export async function run(print) {
  const seed = Date.now() % 1_000_000;
  const verdict = await killRounds(ROUNDS, seed, (round, { acknowledged }) => {
    if (round % 10 === 0) print(`${round} kills`, `${n(acknowledged)} messages acknowledged`);
  });
  const { hostKills, powerCuts, acknowledged, retried, unsure, events, errors, broken } = verdict;
  print(`kills of the service, of single hosts (seed ${seed})`, `${ROUNDS}, ${hostKills}`);
  print('of the former with its power', n(powerCuts));
  print(
    'messages acknowledged, of them tried again; without an answer',
    `${n(acknowledged)}, ${n(retried)}; ${n(unsure)}`,
  );
  print('errors that clients saw', JSON.stringify(errors));
  print('events followed with Last-Event-ID, each once and in order', n(events));
  print('lost, repeated or out of order', broken.length === 0 ? 'nothing' : `${broken.length}`);
  for (const line of broken.slice(0, 20)) print('', line);
  if (broken.length > 0) throw new Error('a promise was broken');
}
