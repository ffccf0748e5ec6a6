// Queries that go deep or wide over 1M nodes, beside a graph of a tenth of the size: what each costs and how many keys it
// reads. A query that costs what it touches costs the same in both.
import { spawn } from 'node:child_process';
import { closeSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { client, cpuMs, n, root, scratch, startService } from './service.mjs';

export const name = 'Deep and wide queries (1,000,000 nodes against 100,000)';

const SIZES = [1_000_000, 100_000];
const QUADS_A_NODE = 5;
const CHILDREN = 4;
const WORDS = ['amber', 'birch', 'cedar', 'delta', 'ember', 'fjord', 'grove', 'heath'];
const SCHEMA = `title: string @index(term, trigram) .
score: int @index(int) .
group: int @index(int) .
child: [uid] .
type Page { title score }
`;

/** A tree of nodes with a title, a score of its own, and one of 100 groups; its quads a line each. */
function writeTree(path, nodes) {
  const file = openSync(path, 'w');
  const uid = (i) => `<0x${(i + 1).toString(16)}>`;
  let text = '';
  for (let i = 0; i < nodes; i++) {
    text += `${uid(i)} <title> "${WORDS[i % 8]} ${WORDS[(i * 7 + 3) % 8]} number${i}" .\n`;
    text += `${uid(i)} <score> "${(i * 7919) % nodes}" .\n${uid(i)} <group> "${i % 100}" .\n`;
    text += `${uid(i)} <service.type> "Page" .\n`;
    if (i > 0) text += `${uid(Math.floor((i - 1) / CHILDREN))} <child> ${uid(i)} .\n`;
    if (text.length > 1e6 || i === nodes - 1) {
      writeSync(file, text);
      text = '';
    }
  }
  closeSync(file);
}

/** Fills a data directory; resolves with the seconds that took. */
async function importTree(folder, nodes) {
  const path = (file) => join(folder, file);
  writeTree(path('tree.nq'), nodes);
  writeFileSync(path('tree.schema'), SCHEMA);
  const from = performance.now();
  const args = ['import', path('tree.nq'), '--schema', path('tree.schema'), '--data', path('data'), '--json'];
  const child = spawn(process.execPath, [join(root, 'bin/graphstead.js'), ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const code = await new Promise((resolve) => child.on('exit', resolve));
  if (code !== 0) throw new Error(`import ended with ${code}`);
  rmSync(path('tree.nq'));
  return (performance.now() - from) / 1000;
}

const PAGE = 'first: 10) { title score }';

/** Each with what makes its text, of how many nodes there are. */
const QUERIES = [
  ['recurse over 7 levels of a tree of 4 children', () => '{ q(func: uid(0x1)) @recurse(depth: 7) { uid child } }'],
  [
    '6 levels of children with titles, 3 of each',
    () => {
      let inner = 'title';
      for (let i = 0; i < 6; i++) inner = `title child(first: 3) { ${inner} }`;
      return `{ q(func: uid(0x1)) { ${inner} } }`;
    },
  ],
  [
    'groupby of 20,000 nodes into 100 groups',
    () => '{ q(func: has(group), first: 20000) @groupby(group) { count(uid) } }',
  ],
  ['first 10 by score, all nodes', () => `{ q(func: has(score), orderasc: score, ${PAGE} }`],
  ['10 after 1,000 by score, descending', () => `{ q(func: has(score), orderdesc: score, offset: 1000, ${PAGE} }`],
  [
    'first 10 by score of those above the middle',
    (nodes) => `{ q(func: ge(score, ${nodes / 2}), orderasc: score, ${PAGE} }`,
  ],
  ['first 10 by score of a type', () => `{ q(func: type(Page), orderasc: score, ${PAGE} }`],
  [
    'first 10 by score of a type, one in 100',
    () => '{ q(func: type(Page), orderasc: score, first: 10) @filter(eq(group, 42)) { title score } }',
  ],
  [
    'first 10 by score of a type, one of all',
    (nodes) =>
      `{ q(func: type(Page), orderasc: score, first: 10) @filter(anyofterms(title, "number${nodes / 2 + 7}")) { title score } }`,
  ],
  [
    'first 10 by group, then score',
    () => '{ q(func: has(group), orderasc: group, orderdesc: score, first: 10) { score } }',
  ],
  ['first 10 of a type', () => `{ q(func: type(Page), ${PAGE} }`],
  ['regexp of one node', (nodes) => `{ q(func: regexp(title, /number${nodes / 2 + 123}$/)) { title } }`],
  [
    'all of two terms in a quarter of the nodes, first 10',
    () => '{ q(func: allofterms(title, "amber delta"), first: 10) { title } }',
  ],
  [
    'all of a rare and a frequent term',
    (nodes) => `{ q(func: allofterms(title, "number${nodes / 2} amber")) { title } }`,
  ],
  ['one rare term', () => '{ q(func: anyofterms(title, "number77777")) { title } }'],
];

const RUNS = 20;

/** CPU in ms and keys read of one query. */
async function measure(service, http, query) {
  const ask = async () => {
    const body = await http.post('/query?ro=true', query, 'application/dql');
    if (body.includes('"errors"')) throw new Error(`${query}: ${body.toString('utf8', 0, 600)}`);
    return body;
  };
  const body = await ask();
  for (let i = 0; i < 4; i++) await ask();
  const before = cpuMs(service.pid);
  for (let i = 0; i < RUNS; i++) await ask();
  const cpu = (cpuMs(service.pid) - before) / RUNS;
  return { cpu, keys: Number(/"keys_read":(\d+)/.exec(body)?.[1]), bytes: body.length };
}

export async function run(print) {
  const folders = SIZES.map(() => scratch('deep'));
  const services = [];
  try {
    for (const [i, nodes] of SIZES.entries()) {
      const seconds = await importTree(folders[i].dir, nodes);
      print(`${n(nodes * QUADS_A_NODE)} quads imported`, `${n(seconds, 1)} s`);
    }
    for (const folder of folders) services.push(await startService({ data: join(folder.dir, 'data') }));
    for (const [label, textOf] of QUERIES) {
      const shown = [];
      for (const [i, service] of services.entries()) {
        const http = client(service.url);
        const { cpu, keys, bytes } = await measure(service, http, textOf(SIZES[i]));
        shown.push(
          `${n(cpu, 1).padStart(7)} ms CPU ${n(keys).padStart(6)} keys read${i === 0 ? ` ${n(bytes).padStart(7)} bytes` : ''}`,
        );
        http.close();
      }
      print(label, shown.join('  |  '));
    }
  } finally {
    for (const service of services) await service.stop();
    for (const folder of folders) folder.remove();
  }
}
