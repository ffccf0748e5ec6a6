// node bench/peers/bare-server.mjs BURST: what node:http alone does, without a store, agents or GraphQL. POST /graphql reads
// the body and answers, or opens an event stream where one is asked for; POST /tell and /burst write bytes made once to
// every open stream. Prints its port.
import http from 'node:http';

const BURST = Number(process.argv[2]);
const FRAME =
  'event: next\nid: 0123456789abcdef.100000.0\ndata: {"data":{"agentEvent":{"name":"counted","data":{"count":1},"timestamp":"2026-01-01T00:00:00.000Z"}}}\n\n';
const frames = { '/tell': FRAME, '/burst': FRAME.repeat(BURST) };
const ANSWER = '{"data":{"counterCount":1},"extensions":{"touched_uids":0}}';
const HEAD = { 'content-type': 'application/json', 'content-length': ANSWER.length };
const streams = new Set();

const server = http.createServer((request, response) => {
  const frame = frames[request.url];
  if (frame !== undefined) for (const stream of streams) stream.write(frame);
  if (request.headers.accept === 'text/event-stream') {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(':\n\n');
    streams.add(response);
    response.once('close', () => streams.delete(response));
    return;
  }
  const parts = [];
  request.on('data', (part) => parts.push(part));
  request.on('end', () => {
    Buffer.concat(parts).toString();
    response.writeHead(200, HEAD).end(ANSWER);
  });
});
server.keepAliveTimeout = 0;
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
