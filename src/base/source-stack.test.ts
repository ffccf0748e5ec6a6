import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { compiled } from './package-root.js';
import { sourceStack } from './source-stack.js';

const main = compiled('cli/main');

function lineOf(text: string, part: string): { readonly line: number; readonly column: number } {
  const lines = text.split('\n');
  const at = lines.findIndex((line) => line.includes(part));
  return { line: at + 1, column: lines[at].indexOf(part) + 1 };
}

describe('a stack', () => {
  it('names the sources behind bundled files', () => {
    const { line, column } = lineOf(readFileSync(main, 'utf8'), 'createProgram() {');
    const source = new URL('../cli/program.ts', import.meta.url);
    const written = lineOf(readFileSync(source, 'utf8'), 'createProgram(): Command {');
    const stack = `Error: no\n    at createProgram (${main.href}:${line}:${column})\n    at node:internal/x:1:2`;
    expect(sourceStack(stack)).toBe(
      `Error: no\n    at createProgram (src/cli/program.ts:${written.line}:${written.column})\n    at node:internal/x:1:2`,
    );
  });

  it('keeps places that no map knows', () => {
    const stack = `Error\n    at a (file:///elsewhere/dist/x.js:1:1)\n    at b (${fileURLToPath(main)}.none.js:1:1)`;
    expect(sourceStack(stack)).toBe(stack);
  });
});
