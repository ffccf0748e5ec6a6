// Loaded before a conformance runner (`--import`): tells the queries on which the service (process $SLOW_PID) spent more
// than $SLOW_MS of processor time, all threads together. Linux only: the machine may do other things at the same time.
import { readdirSync, readFileSync } from 'node:fs';
import http from 'node:http';

const slowMs = Number(process.env.SLOW_MS);
const tasks = `/proc/${process.env.SLOW_PID}/task`;
const request = http.request;

/** Processor time of the service so far, in ms. */
function processorMs() {
  let nanos = 0;
  for (const task of readdirSync(tasks)) {
    try {
      nanos += Number(readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ')[0]);
    } catch {
      // a thread that has just ended
    }
  }
  return nanos / 1e6;
}

http.request = (url, ...rest) => {
  const sent = request(url, ...rest);
  if (!sent.path.startsWith('/query')) return sent;
  const end = sent.end.bind(sent);
  let body = Buffer.alloc(0);
  let before = 0;
  sent.end = (data, ...more) => {
    if (data) body = Buffer.from(data);
    before = processorMs();
    return end(data, ...more);
  };
  sent.once('response', (response) => {
    response.once('end', () => {
      const ms = processorMs() - before;
      if (ms < slowMs) return;
      const text = body.toString('utf8', 0, 400).replaceAll(/\s+/g, ' ');
      process.stderr.write(`slow: ${ms.toFixed(0)} ms, ${body.length} bytes, ${sent.path}: ${text.slice(0, 200)}\n`);
    });
  });
  return sent;
};
