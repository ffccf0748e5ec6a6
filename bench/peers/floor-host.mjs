// The process that holds the counters of floor-server.mjs.
import { readLines, sendLines } from './floor-lines.mjs';

const counts = new Map();
const reply = sendLines(process.stdout);
readLines(process.stdin, ({ call, id }) => {
  const count = (counts.get(id) ?? 0) + 1;
  counts.set(id, count);
  reply({ call, count });
});
