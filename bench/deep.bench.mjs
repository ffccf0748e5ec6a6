// Queries that go deep or wide: recursion, groups, order with pagination, text search; keys that each read.
import { client, cpuMs, n, startService } from './service.mjs';

export const name = 'Deep and wide queries (200,000 nodes)';

const NODES = 200_000;
const PART = 20_000;
const WORDS = ['amber', 'birch', 'cedar', 'delta', 'ember', 'fjord', 'grove', 'heath'];

function part(from) {
  let quads = '{ set {\n';
  for (let i = from; i < from + PART; i++) {
    const words = `${WORDS[i % 8]} ${WORDS[(i * 7 + 3) % 8]} number${i}`;
    quads += `<0x${(i + 1).toString(16)}> <title> "${words}" .\n<0x${(i + 1).toString(16)}> <score> "${(i * 7919) % NODES}" .\n`;
    quads += `<0x${(i + 1).toString(16)}> <group> "${i % 100}" .\n`;
    if (i > 0) quads += `<0x${(Math.floor((i - 1) / 4) + 1).toString(16)}> <child> <0x${(i + 1).toString(16)}> .\n`;
  }
  return `${quads}} }`;
}

const QUERIES = [
  ['recurse 7 levels of a tree of 4 children', '{ q(func: uid(0x1)) @recurse(depth: 7) { uid child } }'],
  ['groupby of 20,000 nodes into 100 groups', '{ q(func: has(group), first: 20000) @groupby(group) { count(uid) } }'],
  ['first 10 of 200,000 by score', '{ q(func: has(score), orderasc: score, first: 10) { title score } }'],
  [
    '10 after 1,000 by score, descending',
    '{ q(func: has(score), orderdesc: score, first: 10, offset: 1000) { title score } }',
  ],
  ['first 10 with score over the middle', '{ q(func: ge(score, 100000), orderasc: score, first: 10) { title score } }'],
  ['regexp of one node', '{ q(func: regexp(title, /number123456$/)) { title } }'],
  ['all of two terms, first 10', '{ q(func: allofterms(title, "amber delta"), first: 10) { title } }'],
  ['one rare term', '{ q(func: anyofterms(title, "number77777")) { title } }'],
];

export async function run(print) {
  const service = await startService();
  const http = client(service.url);
  const must = (body) => {
    if (body.includes('"errors"')) throw new Error(body.toString('utf8', 0, 600));
    return body;
  };
  try {
    must(
      await http.post(
        '/alter',
        'title: string @index(term, trigram) .\nscore: int @index(int) .\ngroup: int @index(int) .\nchild: [uid] .',
        'text/plain',
      ),
    );
    const [from, cpu] = [performance.now(), cpuMs(service.pid)];
    for (let i = 0; i < NODES; i += PART) must(await http.post('/mutate?commitNow=true', part(i), 'application/rdf'));
    const quads = NODES * 4;
    print(
      `${n(quads)} quads over /mutate, ${n(PART * 4)} a request`,
      `${n((performance.now() - from) / 1000, 1)} s, ${n(((cpuMs(service.pid) - cpu) * 1000) / quads, 1)} us of CPU each`,
    );
    for (const [label, query] of QUERIES) {
      const ask = async () => must(await http.post('/query?ro=true', query, 'application/dql'));
      const body = await ask();
      const runs = 20;
      for (let i = 0; i < 4; i++) await ask();
      const [began, before] = [performance.now(), cpuMs(service.pid)];
      for (let i = 0; i < runs; i++) await ask();
      const wall = (performance.now() - began) / runs;
      const keys = /"keys_read":(\d+)/.exec(body)?.[1] ?? '?';
      print(
        label,
        `${n((cpuMs(service.pid) - before) / runs, 1)} ms CPU, ${n(wall, 1)} ms wall, ${keys} keys read, ${n(body.length)} bytes`,
      );
    }
  } finally {
    http.close();
    await service.stop();
  }
}
