import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { packageRoot } from '../../base/index.js';
import { appStack } from './app-failure.js';

const own = fileURLToPath(new URL('src/agents/host/call.ts', packageRoot));
const frames = (...lines: string[]) => ['Error: no more tea', ...lines.map((line) => `    at ${line}`)].join('\n');

describe("an app's stack", () => {
  it('ends where the app was called', () => {
    const app = ['pour (/app/functions/tea.ts:3:9)', 'new Promise (<anonymous>)', '/app/functions/tea.ts:9:2'];
    const below = [`run (${own}:67:33)`, 'AsyncLocalStorage.run (node:async_hooks:346:14)'];
    expect(appStack(frames(...app, ...below))).toBe(frames(...app));
  });

  it('keeps what the app called', () => {
    const stack = frames(`send (${own}:1:1)`, 'pour (/app/functions/tea.ts:3:9)');
    expect(appStack(stack)).toBe(stack);
  });

  it('stays as it is where the app has no part in it', () => {
    const stack = frames(`run (${own}:67:33)`, 'AsyncLocalStorage.run (node:async_hooks:346:14)');
    expect(appStack(stack)).toBe(stack);
  });
});
