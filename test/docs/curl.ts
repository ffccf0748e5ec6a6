import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Call {
  readonly url: string;
  readonly init: { readonly method: string; readonly headers: Record<string, string>; readonly body?: string };
}

/** Lines of a shell block without comments, continued ones joined, also inside of quotes. */
export function commandLines(text: string): string[] {
  const lines: string[] = [];
  let open = '';
  for (const line of text.split('\n')) {
    const joined = open === '' ? line : `${open}\n${line}`;
    const single = (joined.match(/'/g) ?? []).length % 2 === 1;
    open = '';
    if (single) open = joined;
    else if (joined.endsWith('\\')) open = joined.slice(0, -1);
    else lines.push(joined.trim());
  }
  return lines.filter((line) => line !== '' && !line.startsWith('#'));
}

/** Words of a command line as a shell reads them; only quotes are understood. */
export function words(line: string): string[] {
  return [...line.matchAll(/(?:[^\s'"]|'[^']*'|"[^"]*")+/g)].map((match) =>
    match[0].replace(/'([^']*)'|"([^"]*)"/g, (_, single?: string, double?: string) => single ?? double ?? ''),
  );
}

/** A call of curl as `fetch` takes it. Throws on a flag that it does not know. */
export function callOf(line: string, folder: string): Call {
  const rest = words(line).slice(1);
  const headers: Record<string, string> = {};
  let method: string | undefined;
  let body: string | undefined;
  let url = '';
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (/^-[sSNfi]+$/.test(word)) continue;
    if (word === '-X') method = rest.shift();
    else if (word === '-H') {
      const [name, ...value] = (rest.shift() ?? '').split(':');
      headers[name] = value.join(':').trim();
    } else if (word === '-d' || word === '--data-binary') {
      const data = rest.shift() ?? '';
      body = data.startsWith('@') ? readFileSync(join(folder, data.slice(1)), 'utf8') : data;
    } else if (word.startsWith('-')) throw new Error(`the test does not know curl ${word}`);
    else url = word.includes('://') ? word : `http://${word}`;
  }
  return {
    url,
    init: { method: method ?? (body === undefined ? 'GET' : 'POST'), headers, ...(body === undefined ? {} : { body }) },
  };
}
