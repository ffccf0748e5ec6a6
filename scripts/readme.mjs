// Runs the README's questions against a service and gives what it answered.
//   node scripts/readme.mjs --write    puts fresh answers into README.md
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const readmePath = join(dirname(dirname(fileURLToPath(import.meta.url))), 'README.md');
const BLOCK = /```(graphql|dql)\n([\s\S]*?)```\n\n```json\n([\s\S]*?)```/g;

/** `{language, query, answer}` of each question, in order. */
export function questions(text = readFileSync(readmePath, 'utf8')) {
  return [...text.matchAll(BLOCK)].map(([, language, query, answer]) => ({ language, query, answer }));
}

/** The answer's data as it stands in the README: one short line a list member. */
export async function ask(url, { language, query }) {
  const path = language === 'graphql' ? '/graphql' : '/query';
  const type = language === 'graphql' ? 'application/graphql' : 'application/dql';
  const answer = await (
    await fetch(url + path, { method: 'POST', headers: { 'content-type': type }, body: query })
  ).json();
  if (answer.errors) throw new Error(JSON.stringify(answer.errors));
  const { _path_, ...data } = answer.data;
  return `${print(data, '')}\n`;
}

function print(value, indent) {
  const flat = JSON.stringify(value);
  if (flat.length + indent.length <= 110 || value === null || typeof value !== 'object') return flat;
  const deeper = `${indent}  `;
  if (Array.isArray(value)) return `[\n${value.map((item) => deeper + print(item, deeper)).join(',\n')}\n${indent}]`;
  const entries = Object.entries(value).map(([key, item]) => `${deeper}${JSON.stringify(key)}: ${print(item, deeper)}`);
  return `{\n${entries.join(',\n')}\n${indent}}`;
}

/** README.md with fresh answers. */
async function refreshed(url) {
  const text = readFileSync(readmePath, 'utf8');
  const answers = [];
  for (const question of questions(text)) answers.push(await ask(url, question));
  let i = 0;
  return text.replace(
    BLOCK,
    (_, language, query) => `\`\`\`${language}\n${query}\`\`\`\n\n\`\`\`json\n${answers[i++]}\`\`\``,
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url) && process.argv.includes('--write')) {
  const { startExample } = await import('./example.mjs');
  const service = await startExample();
  writeFileSync(readmePath, await refreshed(service.url));
  await service.stop();
}
