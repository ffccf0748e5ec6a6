// Packs the package, installs the tarball into an empty folder with scripts disabled, and uses it there as a stranger
// would, on each version of Node.js that it is for. Needs the npm registry.
import { spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const MAX_BYTES = 15 * 1024 * 1024;
const VERSIONS = [20, 22, 24, 26];
const COMPILERS = ['typescript', 'esbuild', '@esbuild'];
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = mkdtempSync(join(tmpdir(), 'graphstead-package-'));
const modules = join(folder, 'node_modules');
const command = join(modules, 'graphstead/bin/graphstead.js');

function run(program, args, options = {}) {
  const done = spawnSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], ...options });
  if (done.status !== 0) throw new Error(`${program} ${args.join(' ')} failed:\n${done.stdout}\n${done.stderr}`);
  return done.stdout;
}

const npm = (...args) => run('npm', [...args, '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder });

function check(what, holds) {
  if (!holds) throw new Error(`not so: ${what}`);
  console.log(`  ok  ${what}`);
}

/** What `npm install node` would fetch by a script, as packages: the programs by their major versions. */
function installNodes() {
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  const wanted = VERSIONS.map((major) => `node${major}@npm:node-${platform}-${process.arch}@${major}`);
  npm('install', '--no-save', ...wanted);
  return VERSIONS.map((major) => join(modules, `node${major}`, 'bin', 'node'));
}

async function serve(node, args) {
  const child = spawn(node, [command, ...args, '--port', '0', '--grpc-port', '0', '--json'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith('{"url"')) continue;
    child.stdout.resume();
    const { url } = JSON.parse(line);
    const graphql = async (query) => {
      const request = { method: 'POST', headers: { 'content-type': 'application/graphql' }, body: query };
      const answer = await (await fetch(`${url}/graphql`, request)).json();
      if (answer.errors) throw new Error(JSON.stringify(answer.errors));
      return answer.data;
    };
    const stop = async () => {
      child.kill('SIGTERM');
      const [code] = await new Promise((done) => child.once('exit', (...end) => done(end)));
      if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}`);
    };
    return { url, graphql, stop };
  }
  throw new Error('the packed service ended before it listened');
}

/** An app from `new` to the folder that `build` writes. */
async function checkSources(node, app) {
  run(node, [command, 'new', app, '--no-git', '--json'], { cwd: folder });
  const service = await serve(node, ['dev', app, '--data', join(app, 'data')]);
  try {
    const add = 'mutation { addNote(input: [{ text: "packed", done: false, topic: { name: "t" } }]) { numUids } }';
    check('a mutation lands', (await service.graphql(add)).addNote.numUids === 2);
    const { queryNote } = await service.graphql('{ queryNote(filter: { text: { alloftext: "packs" } }) { id text } }');
    check('a query finds it by its text', queryNote.length === 1 && queryNote[0].text === 'packed');
    const start = `mutation { startReminder(noteId: "${queryNote[0].id}", minutes: 5) }`;
    const { startReminder } = await service.graphql(start);
    const { reminderCount } = await service.graphql(`{ reminderCount(agentId: "${startReminder}") }`);
    check('an agent takes its messages', reminderCount === 0);
    const page = await fetch(`${service.url}/explorer`);
    check('the explorer comes with the package', page.status === 200 && (await page.text()).includes('<'));
  } finally {
    await service.stop();
  }
  const { operations } = JSON.parse(run(node, [command, 'build', app, '--json'], { cwd: folder }));
  check('the app is built', operations.length === 3);
}

/** What runs where no compiler is installed: a built folder, and the import. */
async function checkWithoutCompilers(node, app) {
  for (const name of COMPILERS) renameSync(join(modules, name), join(folder, `away-${name}`));
  try {
    writeFileSync(join(folder, 'data.rdf'), '_:a <name> "imported" .\n');
    run(node, [command, 'import', 'data.rdf', '--data', join(app, 'data'), '--json'], { cwd: folder });
    const service = await serve(node, ['start', join(app, 'build'), '--data', join(app, 'data')]);
    try {
      const { getSummary } = await service.graphql('{ getSummary(topic: "t") }');
      check('a built folder and import need neither typescript nor esbuild', getSummary === 'packed');
    } finally {
      await service.stop();
    }
  } finally {
    for (const name of COMPILERS) renameSync(join(folder, `away-${name}`), join(modules, name));
  }
}

function checkTypes(app) {
  const options = {
    strict: true,
    noEmit: true,
    module: 'NodeNext',
    moduleResolution: 'NodeNext',
    target: 'ES2023',
    skipLibCheck: true,
    types: [],
  };
  const include = [`${app}/agents`, `${app}/functions`];
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, include }));
  run(join(modules, '.bin/tsc'), ['-p', folder]);
  check('its types are found by the compiler', true);
}

try {
  run('npm', ['pack', '--pack-destination', folder], { cwd: root });
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz'));
  const { size } = statSync(join(folder, tarball));
  check(`the package has ${(size / 2 ** 20).toFixed(1)} MiB, below 15`, size < MAX_BYTES);
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  npm('install', `./${tarball}`);
  const { version } = JSON.parse(readFileSync(join(modules, 'graphstead/package.json'), 'utf8'));
  check(`${version} installs with scripts disabled`, existsSync(command));
  for (const [i, node] of installNodes().entries()) {
    console.log(`Node.js ${run(node, ['--version']).trim()}`);
    const app = `app-${VERSIONS[i]}`;
    await checkSources(node, app);
    await checkWithoutCompilers(node, app);
  }
  checkTypes(`app-${VERSIONS[0]}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
