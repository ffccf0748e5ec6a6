import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { createProgram } from '../../src/cli/program.js';
import { words } from './curl.js';

const program = createProgram();
/** of this package, and of an app that `new` makes */
const scripts = ['package.json', 'templates/app/package.json.template'].flatMap((file) =>
  Object.keys((JSON.parse(readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')) as Package).scripts),
);

interface Package {
  readonly scripts: Readonly<Record<string, string>>;
}

/** What is wrong with a line of a page that names a command: graphstead, npm or node scripts; empty when nothing is. */
export function commandMistakes(line: string): string[] {
  // a summary has its explanation behind two blanks
  const all = words(line.trim().split(/\s{2,}|\s&&\s/)[0] ?? '').filter((word) => !/^[A-Z_]+=/.test(word));
  const [name, ...rest] = all[0] === 'npx' ? all.slice(1) : all;
  if (name === undefined || name.startsWith('#') || name === 'cd') return [];
  if (name === 'npm') return npmMistakes(rest, line);
  if (name === 'graphstead') return graphsteadMistakes(rest, line);
  return [`${line}: neither graphstead nor curl; say why it is not run`];
}

function npmMistakes([verb = '', script = '']: string[], line: string): string[] {
  if (['ci', 'install', 'pack', 'test', 'start'].includes(verb)) return [];
  return verb === 'run' && scripts.includes(script) ? [] : [`${line}: package.json has no such script`];
}

function graphsteadMistakes(rest: readonly string[], line: string): string[] {
  if (rest[0] === '--help' || rest[0] === '--version') return [];
  const command = program.commands.find((one) => one.name() === rest[0]);
  if (command === undefined) return [`${line}: there is no command "${rest[0]}"`];
  const { values, mistakes } = flagsOf(command, rest.slice(1), line);
  const most = command.registeredArguments.some((one) => one.variadic) ? Infinity : command.registeredArguments.length;
  if (values.length > most) mistakes.push(`${line}: too many arguments`);
  const least = command.registeredArguments.filter((one) => one.required).length;
  if (values.length < least) mistakes.push(`${line}: an argument is missing`);
  for (const option of command.options) {
    if (option.mandatory && !rest.includes(option.long ?? '')) mistakes.push(`${line}: ${option.long} is missing`);
  }
  return mistakes;
}

function flagsOf(command: Command, rest: readonly string[], line: string) {
  const values: string[] = [];
  const mistakes: string[] = [];
  const left = [...rest];
  for (let word = left.shift(); word !== undefined; word = left.shift()) {
    if (!word.startsWith('--')) {
      values.push(word);
      continue;
    }
    const option = command.options.find(({ long, short }) => word === long || word === short);
    if (option === undefined) mistakes.push(`${line}: ${command.name()} has no flag ${word}`);
    else if (option.required) {
      const value = left.shift();
      if (value === undefined || (option.argChoices && !option.argChoices.includes(value))) {
        mistakes.push(`${line}: ${word} does not take "${value}"`);
      }
    }
  }
  return { values, mistakes };
}
