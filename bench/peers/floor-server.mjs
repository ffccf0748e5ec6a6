// node bench/peers/floor-server.mjs HOPS COMMIT: the steps no durable message over HTTP can do without where app code runs in
// a process of its own, and nothing else: node:http, JSON, as many hops to another process and back, one LMDB commit for all that
// wait while the one before is on its way to disk. No GraphQL, turns, order, deadlines or events. Prints its port.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open } from 'lmdb';
import { readLines, sendLines } from './floor-lines.mjs';

const [hops, commit] = [Number(process.argv[2]), process.argv[3] === 'yes'];
const dir = mkdtempSync(join(tmpdir(), 'graphstead-floor-'));
const store = open({ path: dir, encoding: 'string' });
rmSync(dir, { recursive: true }); // its files stay until the process ends
const hosts = Array.from({ length: hops }, startHost);

function startHost() {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'floor-host.mjs')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const waiting = new Map();
  const send = sendLines(child.stdin);
  let next = 0;
  readLines(child.stdout, ({ call, count }) => {
    const done = waiting.get(call);
    waiting.delete(call);
    done(count);
  });
  return (id) =>
    new Promise((done) => {
      waiting.set(next, done);
      send({ call: next++, id });
    });
}

let batch = [];
let committing = false;
const written = (key, state) =>
  new Promise((done) => {
    if (batch.length === 0) setImmediate(write);
    batch.push({ key, state, done });
  });

async function write() {
  if (committing || batch.length === 0) return;
  committing = true;
  const now = batch;
  batch = [];
  await store.transaction(() => {
    for (const { key, state } of now) store.put(key, state);
  });
  committing = false;
  for (const { done } of now) done();
  write();
}

async function answer(text, response) {
  const { id } = JSON.parse(text).variables;
  let count = 1;
  for (const host of hosts) count = await host(id);
  if (commit) await written(id, JSON.stringify({ count }));
  const body = JSON.stringify({ data: { counterCount: count }, extensions: { touched_uids: 0 } });
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length }).end(body);
}

const server = http.createServer((request, response) => {
  const parts = [];
  request.on('data', (part) => parts.push(part));
  request.on('end', () => answer(Buffer.concat(parts).toString(), response));
});
server.keepAliveTimeout = 0;
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
