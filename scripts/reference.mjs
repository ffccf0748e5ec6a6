// Makes the pages of docs/reference that follow from the code; `npm run build` first.
//   node scripts/reference.mjs --write    writes them; test/docs.test.ts holds them to the code
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ERROR_STATUS } from '../build/rooms/base/errors.js';
import { DEFAULT_LIMITS } from '../build/rooms/base/limits.js';
import { configJsonSchema } from '../build/rooms/connections/index.js';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const NOTE = '<!-- Made by scripts/reference.mjs from the code: change it there. -->';

/** What each figure of GET /metrics means, without labels; the test compares the names with a running service. */
export const METRICS = {
  graphstead_http_requests_total: 'requests answered, by route, method and status',
  graphstead_http_request_seconds: 'histogram of the time from the request to its answer, by route',
  graphstead_process_resident_bytes: 'memory of the main process; host processes of an app come on top',
  graphstead_app_agents_in_memory: 'agents that are loaded in a host process now',
  graphstead_app_turns_running: 'turns of agents that run now',
  graphstead_app_turns: 'turns ended since the start',
  graphstead_app_turn_failures: 'turns that ended with an error',
  graphstead_app_event_subscribers: 'open subscriptions to events of agents',
  graphstead_app_hosts: 'host processes, spare ones included',
  graphstead_app_host_tasks: 'turns and function calls that host processes work on now',
  graphstead_app_host_kills: 'host processes that were ended because app code hung or used too much memory',
  graphstead_store_entries: 'keys in the store',
  graphstead_store_tree_depth: 'levels of the B+ tree on disk',
  graphstead_store_leaf_pages: 'leaf pages of the tree',
  graphstead_store_map_bytes: 'address space that the store has reserved; no disk is used for it',
  graphstead_store_file_bytes: 'size of data.mdb as far as it is in use',
  graphstead_store_readers: 'snapshots that are open now',
  graphstead_store_batches: 'batches written since the start',
  graphstead_store_batch_bytes: 'bytes of keys and values in those batches',
  graphstead_commit_commits: 'transactions committed since the start',
  graphstead_commit_groups: 'groups they were written in: one flush of the disk each',
  graphstead_commit_conflicts: 'transactions aborted because another one committed first',
  graphstead_commit_refusals: 'transactions refused for another reason, a unique value among them',
  graphstead_commit_failures: 'groups that could not be written',
  graphstead_commit_last_commit_ts: 'timestamp of the newest commit',
  graphstead_commit_oracle_keys: 'conflict keys that are remembered',
  graphstead_commit_waiting: 'transactions that wait for their group',
  graphstead_commit_record_bytes: 'bytes of the commit records that GET /changes reads',
};

/** name of the page to its text */
export function referencePages() {
  return {
    'errors.md': errorsPage(),
    'limits.md': limitsPage(),
    'metrics.md': metricsPage(),
    'app-json.md': appJsonPage(),
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
that is no positive number ends the start. The error that a limit causes names it.`,
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
    `\`GET /metrics\` answers in Prometheus' text format. Counts begin at 0 when the service starts. The figures that begin with
\`graphstead_app\` are there with an app alone; a service that keeps everything in memory (tests) has fewer of \`graphstead_store\`.`,
    ['metric', 'meaning'],
    Object.entries(METRICS).map(([name, meaning]) => [`\`${name}\``, meaning]),
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

${kinds.join('\n\n')}

## models

${fields(schema.properties.models.additionalProperties)}
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
