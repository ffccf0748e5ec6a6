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

/** What is published while the reader works waits in its queue. */
async function* eventsOfSubscriber() {
  const queue = [];
  const subscriber = {
    wake: undefined,
    push(event) {
      queue.push(event);
      subscriber.wake?.();
    },
  };
  subscribers.add(subscriber);
  try {
    for (;;) {
      while (queue.length > 0) yield { agentEvent: queue.shift() };
      await new Promise((wake) => {
        subscriber.wake = wake;
      });
    }
  } finally {
    subscribers.delete(subscriber);
  }
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
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
