// Makes the pages of docs/reference that follow from the code; `npm run build` first.
//   node scripts/reference.mjs --write    writes them; test/docs.test.ts holds them to the code
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ERROR_STATUS } from '../build/rooms/base/errors.js';
import { DEFAULT_LIMITS } from '../build/rooms/base/limits.js';
import { configJsonSchema } from '../build/rooms/connections/index.js';
import { FIGURES } from '../build/rooms/server/figures.js';
import { codeEntries } from './code-reference.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const NOTE = '<!-- Made by scripts/reference.mjs from the code: change it there. -->';

/** name of the page to its text */
export function referencePages() {
  return {
    'errors.md': errorsPage(),
    'limits.md': limitsPage(),
    'metrics.md': metricsPage(),
    'app-json.md': appJsonPage(),
    'app-code.md': appCodePage(),
  };
}

function errorsPage() {
  const text = readFileSync(join(root, 'src/base/errors.ts'), 'utf8');
  const rows = [...text.matchAll(/^ {2}\/\*\* (.*) \*\/\n {2}([A-Z_]+): \d+,/gm)].map((match) => {
    return [`\`${match[2]}\``, ERROR_STATUS[match[2]], match[1]];
  });
  complete('errors.ts', rows, Object.keys(ERROR_STATUS));
  return page(
    'Error codes',
    `Every failure is told as \`{"errors": [{"message", "locations", "path", "extensions": {"code", "fix", ...}}]}\`. The list is closed, and a
code never changes its meaning: switch on \`extensions.code\`, not on the message. \`fix\` says what to do about it.

The status is that of \`/query\`, \`/mutate\`, \`/alter\`, \`/commit\` and the paths below \`/admin/\`. GraphQL under \`application/json\` answers 200 with \`errors\`; under
\`application/graphql-response+json\` it answers 400 when nothing could be executed. \`--compat dgraph\` answers 200 with \`errors\` for all
but a few (see [http.md](http.md)).`,
    ['code', 'status', 'when'],
    rows,
  );
}

function limitsPage() {
  const text = readFileSync(join(root, 'src/base/limits.ts'), 'utf8');
  const body = text.slice(text.indexOf('DEFAULT_LIMITS = {'), text.indexOf('} as const'));
  const rows = [...body.matchAll(/^ {2}\/\*\* (.*) \*\/\n {2}(\w+):/gm)].map(([, meaning, name]) => {
    return [`\`${name}\``, DEFAULT_LIMITS[name], unitOf(name, meaning), `\`${variableOf(name)}\``, meaning];
  });
  complete('limits.ts', rows, Object.keys(DEFAULT_LIMITS));
  return page(
    'Limits',
    `Everything is bounded. A limit is set when the service starts: by its environment variable, or in \`app.json\` under \`limits\`, which wins. A value
that is no positive whole number, or too large for a timer (24 days), ends the start. The error that a limit causes names it.`,
    ['limit', 'default', 'unit', 'variable', 'meaning'],
    rows,
  );
}

/** As `makeLimits` reads it. */
function variableOf(name) {
  return `GRAPHSTEAD_LIMIT_${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}

function unitOf(name, meaning) {
  const named = /(bytes|milliseconds|hours|megabytes)/.exec(`${meaning.split(' ')[0]} ${meaning}`)?.[1];
  const suffix = /(Bytes|Ms|Hours|Mb)$/.exec(name)?.[1];
  const unit = { Bytes: 'bytes', Ms: 'milliseconds', Hours: 'hours', Mb: 'megabytes' }[suffix];
  return unit ?? (meaning.startsWith(named) ? named : 'count');
}

function metricsPage() {
  return page(
    'Metrics',
    `\`GET /metrics\` answers in Prometheus' text format. Counters begin at 0 when the service starts. The figures that begin with
\`graphstead_app\` are there with an app alone; a service that keeps everything in memory (tests) has fewer of \`graphstead_store\`.`,
    ['metric', 'type', 'meaning'],
    Object.entries(FIGURES).map(([name, { type, help }]) => [`\`${name}\``, type, help]),
  );
}

function appJsonPage() {
  const schema = configJsonSchema();
  const connections = schema.properties.connections.additionalProperties;
  const kinds = (connections.oneOf ?? connections.anyOf).map((kind) => {
    const { type, ...rest } = kind.properties;
    const names = (type.enum ?? [type.const]).map((name) => `\`"${name}"\``).join(' or ');
    return `### A connection of type ${names}\n\n${fields({ ...kind, properties: rest })}`;
  });
  return `# app.json

${NOTE}

What an app reaches outside. Comments are allowed. Every mistake is told at once, with line, reason and fix; a key that is not listed here is one.
The file also is what makes a folder the app when \`dev\` or \`start\` is called without one.

## The file

${fields(schema)}

## connections

\`{{NAME}}\` in a text of a connection stands for the environment variable \`APP_<CONNECTION>_<NAME>\`, in upper case, \`-\` as \`_\`. A variable that is
missing ends the start, unless the connection is \`optional\`. In development \`.env.dev.local\`, \`.env.dev\`, \`.env.local\` and \`.env\` of the app's folder are
read too, the first wins, and the environment of the process comes before all of them. \`start\` reads none of these files.
Where an error would repeat a value, of four characters or more, it shows \`{{NAME}}\` instead.

${kinds.join('\n\n')}

## models

${fields(schema.properties.models.additionalProperties)}
`;
}

function appCodePage() {
  return `# What app code imports

${NOTE}

Everything that \`graphstead/app\` and \`graphstead/testing\` give, in the words of the comments that an editor shows. The guides show it at work:
[functions](../guides/functions.md), [agents](../guides/agents.md). What is thrown has one of the [codes](errors.md); bounds are in [limits.md](limits.md).

## graphstead/app

${codeEntries(root, 'src/app.ts').join('\n\n')}

## graphstead/testing

${codeEntries(root, 'src/testing.ts').join('\n\n')}
`;
}

function fields({ properties, required = [] }) {
  const rows = Object.entries(properties).map(([name, field]) => {
    const type = field.type ?? (field.const ? `\`"${field.const}"\`` : 'any');
    const standard = field.default === undefined || typeof field.default === 'object' ? '' : `\`${field.default}\``;
    return [
      `\`${name}\``,
      type,
      required.includes(name) ? 'yes' : 'no',
      standard,
      NAMES[name] ?? field.description ?? '',
    ];
  });
  return table(['key', 'type', 'required', 'default', 'meaning'], rows);
}

/** Where the schema has no words of its own, or they would promise too much. */
const NAMES = {
  $schema: 'for editors; not read',
  name: 'for people; not read',
  endpoints: 'accepted from apps that have it; not read',
  models: 'by name; see below',
  connections: 'by name; see below',
  limits: 'numbers by the names of [limits.md](limits.md); they win over the environment',
  maxConnections: 'connections that are kept open at most',
  provider: 'accepted from apps that have it; not read',
};

function complete(file, rows, names) {
  const told = new Set(rows.map(([name]) => name.slice(1, -1)));
  const silent = names.filter((name) => !told.has(name));
  if (silent.length > 0) throw new Error(`${file}: write a doc comment of one line above ${silent.join(', ')}`);
}

function page(title, introduction, head, rows) {
  return `# ${title}\n\n${NOTE}\n\n${introduction}\n\n${table(head, rows)}\n`;
}

function table(head, rows) {
  const line = (cells) => `| ${cells.map((cell) => String(cell).replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url) && process.argv.includes('--write')) {
  for (const [name, text] of Object.entries(referencePages())) writeFileSync(join(root, 'docs/reference', name), text);
}
