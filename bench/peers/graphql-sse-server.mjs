// node bench/peers/graphql-sse-server.mjs PACKAGES BURST: graphql-sse's handler over node:http. POST /tell publishes one
// event of the shape that agentEvent has to every subscriber, POST /burst as many as BURST. Prints its port.
import { createRequire } from 'node:module';
import http from 'node:http';
import { join } from 'node:path';

const require = createRequire(join(process.argv[2], 'package.json'));
const { buildSchema } = require('graphql');
const { createHandler } = require('graphql-sse/lib/use/http');

const schema = buildSchema(`
  type AgentEvent { name: String! data: CountedData! timestamp: String! }
  type CountedData { count: Int! }
  type Query { ok: Boolean }
  type Subscription { agentEvent(agentId: String): AgentEvent! }
`);

const subscribers = new Set();

/** What is published while the reader works waits in its queue; one that leaves is forgotten at once. */
function eventsOfSubscriber() {
  const queue = [];
  let wake;
  const subscriber = {
    push(event) {
      queue.push(event);
      wake?.();
    },
  };
  subscribers.add(subscriber);
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      while (queue.length === 0) {
        await new Promise((go) => {
          wake = go;
        });
      }
      return { done: false, value: { agentEvent: queue.shift() } };
    },
    async return() {
      subscribers.delete(subscriber);
      return { done: true, value: undefined };
    },
  };
}
schema.getSubscriptionType().getFields().agentEvent.subscribe = eventsOfSubscriber;

const handler = createHandler({ schema });
const BURST = Number(process.argv[3]);
let count = 0;
const server = http.createServer((request, response) => {
  if (request.url === '/graphql') return void handler(request, response).catch(() => response.destroy());
  const times = request.url === '/burst' ? BURST : 1;
  for (let i = 0; i < times; i++) {
    const event = { name: 'counted', data: { count: ++count }, timestamp: new Date().toISOString() };
    for (const subscriber of subscribers) subscriber.push(event);
  }
  response.end(String(count));
});
server.keepAliveTimeout = 0; // between two rounds it rests for longer than five seconds
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
