import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createProgram } from '../../src/cli/program.js';
import { cliReference } from '../../src/cli/reference.js';
import { configJsonSchema } from '../../src/connections/index.js';
import { VARIABLES } from '../../src/server/variables.js';
import { run } from './command.js';

const read = (path: string) => readFileSync(new URL(`../../docs/${path}`, import.meta.url), 'utf8');

describe('documents that are made from the program (node scripts/docs.mjs)', () => {
  it('name every command and flag', () => {
    expect(read('reference/cli.md')).toBe(cliReference(createProgram()));
  });

  it('name every variable that is a setting', () => {
    const text = read('reference/cli.md');
    expect([...VARIABLES].filter((name) => !text.includes(`| \`${name}\` |`))).toEqual([]);
  });

  it('describe app.json as it is checked', () => {
    expect(JSON.parse(read('app.schema.json'))).toEqual(JSON.parse(JSON.stringify(configJsonSchema())));
  });

  it('every command takes --json', () => {
    const without = createProgram().commands.filter(
      (command) => !command.options.some(({ long }) => long === '--json'),
    );
    expect(without.map((command) => command.name())).toEqual([]);
  });
});

describe('wrong usage', () => {
  it.each([
    ['an unknown command', ['nonsense'], 'nonsense'],
    ['an unknown flag', ['start', '--nonsense'], '--nonsense'],
    ['a port that is none', ['start', '--port', '70000'], '0 to 65535'],
    ['two places at once', ['import', 'x.rdf', '--data', 'a', '--to', 'b'], 'cannot be used with'],
    ['a missing flag', ['export'], '--out'],
  ])('%s ends with 2 and says what is wrong', async (_name, args, text) => {
    const { code, stderr } = await run(args);
    expect([code, stderr]).toEqual([2, expect.stringContaining(text)]);
    expect(stderr).toContain('--help');
  });

  it.each([
    ['an unknown command', ['nonsense', '--json'], 'nonsense'],
    ['an unknown flag', ['start', '--json', '--nonsense'], '--nonsense'],
    ['a missing argument', ['backup', '--json'], 'DIR'],
  ])('%s is one line of JSON with --json', async (_name, args, text) => {
    const { code, stdout, stderr } = await run(args);
    expect([code, stdout]).toEqual([2, '']);
    expect(JSON.parse(stderr)).toEqual({
      error: {
        code: 'INVALID_REQUEST',
        message: expect.stringContaining(text),
        fix: expect.stringContaining('--help'),
      },
    });
  });

  it('help and version end with 0, without colours under NO_COLOR', async () => {
    const help = await run(['import', '--help'], { environment: { NO_COLOR: '1', FORCE_COLOR: '' } });
    expect(help.code).toBe(0);
    expect(help.stdout).not.toContain('\u001b[');
    expect((await run(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+/);
  });
});
