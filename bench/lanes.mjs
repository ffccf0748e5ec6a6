// An HTTP/1.1 client on bare sockets, for loads: requests are bytes made once, answers are looked at only as far as
// their end. It takes a few microseconds a request, so that what is measured is the service.
import net from 'node:net';

const HEAD_END = Buffer.from('\r\n\r\n');

/** The bytes of one request. */
export function request(path, body = '', headers = {}) {
  const lines = Object.entries({ host: 'localhost', 'content-length': Buffer.byteLength(body), ...headers });
  return Buffer.from(`POST ${path} HTTP/1.1\r\n${lines.map(([k, v]) => `${k}: ${v}\r\n`).join('')}\r\n${body}`);
}

export const graphqlRequest = (query, variables, headers = {}) =>
  request('/graphql', JSON.stringify({ query, variables }), { 'content-type': 'application/json', ...headers });

/** Length of the whole answer at the start of `bytes`, and where its body begins; undefined while it is not all there. */
function answerIn(bytes) {
  const head = bytes.indexOf(HEAD_END);
  if (head === -1) return undefined;
  const from = head + 4;
  const text = bytes.latin1Slice(0, from);
  const length = /\r\ncontent-length: *(\d+)/i.exec(text);
  if (length !== null)
    return bytes.length < from + Number(length[1]) ? undefined : { from, to: from + Number(length[1]) };
  const end = bytes.indexOf('\r\n0\r\n\r\n', head, 'latin1');
  return end === -1 ? undefined : { from, to: end + 7 };
}

class Lane {
  #pending = Buffer.alloc(0);
  #waiting;

  constructor(port, host) {
    this.connect = () => this.#open(port, host);
    this.connect();
  }

  #open(port, host) {
    this.#pending = Buffer.alloc(0);
    const socket = net.connect({ port, host, noDelay: true });
    const fail = (error) => (this.socket === socket ? this.#fail(error) : undefined);
    socket.on('data', (part) => this.#take(part));
    socket.on('error', fail);
    socket.on('close', () => fail(new Error('the connection was closed')));
    this.socket = socket;
  }

  send(bytes) {
    // a server may close what rests for a while
    if (this.socket.readableEnded || this.socket.destroyed) this.connect();
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.socket.write(bytes);
    });
  }

  #take(part) {
    this.#pending = this.#pending.length === 0 ? part : Buffer.concat([this.#pending, part]);
    const answer = answerIn(this.#pending);
    if (answer === undefined) return;
    const body = this.#pending.latin1Slice(answer.from, answer.to);
    this.#pending = this.#pending.subarray(answer.to);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.resolve(body);
  }

  #fail(error) {
    this.#waiting?.reject(error);
    this.#waiting = undefined;
  }
}

/** Sockets kept open; each call takes a free one, and there must be one. `send` gives the body (chunked ones as they came). */
export function lanes(url, sockets = 64) {
  const { hostname, port } = new URL(url);
  const all = Array.from({ length: sockets }, () => new Lane(Number(port), hostname));
  const free = [...all];
  return {
    async send(bytes) {
      const lane = free.pop();
      if (lane === undefined) throw new Error(`more than ${sockets} requests at once`);
      try {
        return await lane.send(bytes);
      } finally {
        free.push(lane);
      }
    },
    close: () => {
      for (const lane of all) lane.socket.destroy();
    },
  };
}

/**
 * Opens one event stream a request; `counted(n)` is called with the events that a chunk brought. A marker cut in two by
 * a chunk's end is counted with the next chunk.
 */
export async function openStreams(url, requests, counted) {
  const { hostname, port } = new URL(url);
  const MARK = 'event: next';
  const open = (bytes) =>
    new Promise((resolve, reject) => {
      const socket = net.connect({ port: Number(port), host: hostname });
      let tail = '';
      let headed = false;
      socket.on('data', (part) => {
        const text = tail + part.latin1Slice();
        let n = 0;
        let last = 0;
        for (let i = text.indexOf(MARK); i !== -1; i = text.indexOf(MARK, last)) {
          n++;
          last = i + MARK.length;
        }
        tail = text.slice(Math.max(last, text.length - MARK.length + 1));
        if (n > 0) counted(n);
        if (headed) return;
        headed = true;
        if (text.startsWith('HTTP/1.1 200')) resolve(socket);
        else reject(new Error(text.slice(0, 300)));
      });
      socket.on('error', reject);
      socket.write(bytes);
    });
  const streams = [];
  for (let from = 0; from < requests.length; from += 50) {
    streams.push(...(await Promise.all(requests.slice(from, from + 50).map(open))));
  }
  return () => {
    for (const stream of streams) stream.destroy();
  };
}
