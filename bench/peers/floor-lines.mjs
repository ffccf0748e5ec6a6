// Messages between two processes: a line of JSON each, those of one turn of the loop in one write.

export function sendLines(stream) {
  let out = '';
  return (message) => {
    if (out === '') {
      setImmediate(() => {
        stream.write(out);
        out = '';
      });
    }
    out += `${JSON.stringify(message)}\n`;
  };
}

export function readLines(stream, take) {
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (part) => {
    const lines = (rest + part).split('\n');
    rest = lines.pop();
    for (const line of lines) take(JSON.parse(line));
  });
}
