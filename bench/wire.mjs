// One keep-alive connection that costs as little as can be: what is measured with one client is then the service's time.
import { once } from 'node:events';
import { connect } from 'node:net';

const END_OF_HEAD = '\r\n\r\n';

/** Sends one request after the other; `post` resolves with the status and the body of its answer. */
export async function wire(url) {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname).setNoDelay(true);
  await once(socket, 'connect');
  let text = '';
  let settle;
  socket.setEncoding('latin1');
  socket.on('data', (part) => {
    text += part;
    const answer = whole(text);
    if (answer === undefined) return;
    text = '';
    settle.resolve(answer);
  });
  socket.on('error', (error) => settle?.reject(error));
  return {
    post(path, body, type) {
      socket.write(
        `POST ${path} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: ${type}\r\ncontent-length: ${Buffer.byteLength(body)}${END_OF_HEAD}${body}`,
      );
      return new Promise((resolve, reject) => {
        settle = { resolve, reject };
      });
    },
    close: () => socket.destroy(),
  };
}

/** The answer, once all of it is there. */
function whole(text) {
  const head = text.indexOf(END_OF_HEAD);
  if (head < 0) return undefined;
  const length = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, head));
  if (length === null) throw new Error(`an answer without a length: ${text.slice(0, head)}`);
  const body = text.slice(head + END_OF_HEAD.length);
  return body.length < Number(length[1]) ? undefined : { status: Number(text.slice(9, 12)), body };
}
