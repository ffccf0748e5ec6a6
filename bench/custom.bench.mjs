// Custom fields over 1,000 parents: a remote in this process counts the calls; the reference is JSON.parse of its answers.
import { createServer } from 'node:http';
import { client, cpuMs, n, startService } from './service.mjs';

export const name = 'Custom fields over 1,000 parents';

const PARENTS = 1000;
const QUERY = (field) => `{ queryStar(first: ${PARENTS}) { ${field} { label size } } }`;

const objects = (body) =>
  JSON.parse(body).map(({ id }) => ({ label: `about ${id}`, size: id.length, more: [1, 2, 3] }));

async function remote() {
  const seen = { calls: 0, now: 0, most: 0 };
  const server = createServer((request, response) => {
    const parts = [];
    seen.calls++;
    seen.most = Math.max(seen.most, ++seen.now);
    request.on('data', (part) => parts.push(part));
    request.on('end', () => {
      const body = Buffer.concat(parts).toString();
      const answer = request.url.startsWith('/batch') ? objects(body) : { label: `about ${request.url}`, size: 1 };
      setTimeout(() => {
        seen.now--;
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify(answer));
      }, 2);
    });
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    take: () => {
      const { calls, most } = seen;
      Object.assign(seen, { calls: 0, most: 0 });
      return { calls, most };
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function measured(service, runs, work) {
  for (let i = 0; i < runs; i++) await work();
  const [cpu, from] = [cpuMs(service.pid), performance.now()];
  for (let i = 0; i < runs; i++) await work();
  return { cpu: (cpuMs(service.pid) - cpu) / runs, wall: (performance.now() - from) / runs };
}

function parsing(runs) {
  const body = JSON.stringify(objects(JSON.stringify(Array.from({ length: PARENTS }, (_, i) => ({ id: `s${i}` })))));
  for (let i = 0; i < runs; i++) JSON.parse(body);
  const from = process.cpuUsage();
  for (let i = 0; i < runs; i++) JSON.parse(body);
  const { user, system } = process.cpuUsage(from);
  return (user + system) / runs / PARENTS;
}

export async function run(print) {
  const far = await remote();
  const service = await startService();
  const http = client(service.url);
  const graphql = async (query, variables) => {
    const body = await http.post('/graphql', JSON.stringify({ query, ...(variables ? { variables } : {}) }));
    if (body.includes('"errors"')) throw new Error(body.toString('utf8', 0, 600));
    return body;
  };
  try {
    const schema = `
      type About @remote { label: String size: Int }
      type Star {
        id: ID!
        name: String! @id
        many: About @custom(http: {url: "${far.url}/batch", method: POST, mode: BATCH, body: "{id: $name}"})
        each: About @custom(http: {url: "${far.url}/one/$name", method: GET, mode: SINGLE})
      }`;
    const loaded = await http.post('/admin/schema', schema, 'text/plain');
    if (loaded.includes('"errors"')) throw new Error(loaded.toString());
    await graphql('mutation ($input: [AddStarInput!]!) { addStar(input: $input) { numUids } }', {
      input: Array.from({ length: PARENTS }, (_, i) => ({ name: `s${i}` })),
    });
    const plain = await measured(service, 60, () => graphql(`{ queryStar(first: ${PARENTS}) { name } }`));
    far.take();
    const batch = await measured(service, 60, () => graphql(QUERY('many')));
    const { calls } = far.take();
    const parse = parsing(50);
    const own = ((batch.cpu - plain.cpu) * 1000) / PARENTS;
    print('BATCH: outgoing calls a request', n(calls / 120, 1));
    print('BATCH: wall, CPU a request', `${n(batch.wall, 1)} ms, ${n(batch.cpu, 1)} ms`);
    print('BATCH: CPU an object, of it JSON.parse of the answer', `${n(own, 1)} us, ${n(parse, 1)} us`);
    const single = await measured(service, 2, () => graphql(QUERY('each')));
    const { calls: each, most } = far.take();
    print('SINGLE: outgoing calls a request, most at once', `${n(each / 4)}, ${most}`);
    print('SINGLE: wall, CPU a call', `${n(single.wall, 0)} ms, ${n((single.cpu * 1000) / PARENTS)} us`);
  } finally {
    http.close();
    await service.stop();
    far.close();
  }
}
