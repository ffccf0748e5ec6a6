// People as N-Quads, the same for the same count: name, age, two friends and a title in some language each.
import { closeSync, openSync, writeSync } from 'node:fs';

export const QUADS_A_PERSON = 5;
export const schema = `name: string @index(exact, term) .
age: int @index(int) .
friend: [uid] @reverse @count .
title: string @lang @index(term) .
`;

const FIRST = ['Ann', 'Bob', 'Carl', 'Dora', 'Emil', 'Fay', 'Gil', 'Hal', 'Ida', 'Jon'];
const LAST = ['Smith', 'Jones', 'Miller', 'Brown', 'Weber', 'Garcia', 'Rossi', 'Sato'];
const LANGS = ['en', 'de', 'fr', 'es'];

/** Pseudo-random whole numbers below a bound, the same in every run. */
export function dice(seed = 7) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** A mutation of people with a name, an age and so many friends, for services that are filled over HTTP. */
export function peopleMutation(people, friends) {
  const lines = Array.from({ length: people }, (_, i) => {
    const edges = Array.from({ length: friends }, (_, f) => `_:p${i} <friend> _:p${(i * 7 + f * 13) % people} .`);
    return `_:p${i} <name> "person ${i}" .\n_:p${i} <age> "${i % 90}" .\n${edges.join('\n')}`;
  });
  return `{ set { ${lines.join('\n')} } }`;
}

export function writePeople(path, people) {
  const roll = dice();
  const file = openSync(path, 'w');
  let text = '';
  for (let i = 0; i < people; i++) {
    const node = `_:p${i}`;
    text += `${node} <name> "${FIRST[roll(10)]} ${LAST[roll(8)]} ${i}" .\n${node} <age> "${roll(90)}"^^<xs:int> .\n`;
    text += `${node} <friend> _:p${roll(people)} .\n${node} <friend> _:p${roll(people)} .\n`;
    text += `${node} <title> "Title of ${i}"@${LANGS[roll(4)]} .\n`;
    if (text.length > 1e6 || i === people - 1) {
      writeSync(file, text);
      text = '';
    }
  }
  closeSync(file);
}
