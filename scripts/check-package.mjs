// Packs the package, installs the tarball into an empty folder with scripts disabled, and uses it there as a stranger would.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const MAX_BYTES = 15 * 1024 * 1024;
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = mkdtempSync(join(tmpdir(), 'graphstead-package-'));

function run(command, args, options = {}) {
  const done = spawnSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], ...options });
  if (done.status !== 0) throw new Error(`${command} ${args.join(' ')} failed:\n${done.stdout}\n${done.stderr}`);
  return done.stdout;
}

function check(what, holds) {
  if (!holds) throw new Error(`not so: ${what}`);
  console.log(`  ok  ${what}`);
}

async function serve(args) {
  const child = spawn(
    join(folder, 'node_modules/.bin/graphstead'),
    [...args, '--port', '0', '--grpc-port', '0', '--json'],
    {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith('{') && JSON.parse(line).url) return { child, url: JSON.parse(line).url };
  }
  throw new Error('the packed service ended before it listened');
}

const graphql = async (url, query) =>
  (
    await fetch(`${url}/graphql`, { method: 'POST', headers: { 'content-type': 'application/graphql' }, body: query })
  ).json();

try {
  run('npm', ['pack', '--pack-destination', folder], { cwd: root });
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz'));
  const { size } = statSync(join(folder, tarball));
  check(`the package has ${(size / 2 ** 20).toFixed(1)} MiB, below 15`, size < MAX_BYTES);
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', `./${tarball}`], { cwd: folder });
  check('it installs with scripts disabled', true);

  mkdirSync(join(folder, 'app/functions'), { recursive: true });
  writeFileSync(join(folder, 'app/schema.graphql'), 'type Note { id: ID! text: String! }');
  writeFileSync(
    join(folder, 'app/functions/hello.ts'),
    "import { graph, type Int } from 'graphstead/app';\n/** Adds one. */\nexport function showNext(n: Int): Int { return (n + 1) as Int; }\nexport async function countNodes(): Promise<string> { return JSON.stringify(await graph.query('{ q(func: type(Note)) { count(uid) } }')); }\n",
  );
  const options = {
    strict: true,
    noEmit: true,
    module: 'NodeNext',
    moduleResolution: 'NodeNext',
    target: 'ES2023',
    skipLibCheck: true,
    types: [],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, include: ['app'] }));
  run(join(folder, 'node_modules/.bin/tsc'), ['-p', folder]);
  check('its types are found by the compiler', true);
  const service = await serve(['start', 'app', '--explorer', '--data', join(folder, 'data')]);
  const added = await graphql(service.url, 'mutation { addNote(input: [{ text: "packed" }]) { note { text } } }');
  check('types of the app are served', added.data?.addNote?.note?.[0]?.text === 'packed');
  const next = await graphql(service.url, '{ showNext(n: 41) }');
  check('functions of the app are served', next.data?.showNext === 42);
  const page = await fetch(`${service.url}/explorer`);
  check('the explorer comes with the package', page.status === 200 && (await page.text()).includes('<'));
  service.child.kill('SIGTERM');
  await new Promise((done) => service.child.once('exit', done));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
