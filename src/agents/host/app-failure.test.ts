import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { GraphsteadError, packageRoot } from '../../base/index.js';
import { appFailure, appStack, withAppFrames } from './app-failure.js';

const own = fileURLToPath(new URL('src/agents/host/call.ts', packageRoot));
const frames = (...lines: string[]) => ['Error: no more tea', ...lines.map((line) => `    at ${line}`)].join('\n');

describe("an app's stack", () => {
  it('ends where the app was called', () => {
    const app = ['pour (/app/functions/tea.ts:3:9)', 'new Promise (<anonymous>)', '/app/functions/tea.ts:9:2'];
    const below = [`run (${own}:67:33)`, 'AsyncLocalStorage.run (node:async_hooks:346:14)'];
    expect(appStack(frames(...app, ...below))).toBe(frames(...app));
  });

  it('leaves out what is ours between its lines, and what Node.js does between two awaits', () => {
    const ours = `async Root.query (${own}:1:1)`;
    const between = 'process.processTicksAndRejections (node:internal/process/task_queues:95:5)';
    const app = ['new URL (node:internal/url:806:36)', 'async pour (/app/functions/tea.ts:3:9)'];
    expect(appStack(frames(ours, app[0], between, app[1]))).toBe(frames(...app));
  });

  it('begins with where the call was made, which it names itself only where that was awaited', () => {
    const ours = `async answer (${own}:1:1)`;
    const call = frames(`call (${own}:2:2)`, 'pour (/app/functions/tea.ts:3:9)');
    expect(withAppFrames(frames(ours), call)).toBe(frames('pour (/app/functions/tea.ts:3:9)', ours));
    const outer = 'async serve (/app/functions/tea.ts:9:3)';
    const awaited = frames(ours, 'async pour (/app/functions/tea.ts:3:2)', outer);
    expect(withAppFrames(awaited, call)).toBe(frames('pour (/app/functions/tea.ts:3:9)', ours, outer));
  });

  it('stays as it is where the app has no part in it', () => {
    const stack = frames(`run (${own}:67:33)`, 'AsyncLocalStorage.run (node:async_hooks:346:14)');
    expect(appStack(stack)).toBe(stack);
  });
});

describe('what app code threw', () => {
  it('keeps of its extensions what JSON can hold', () => {
    const extensions = { code: 'NO_TEA', cups: 10n, pour: () => 'tea', since: new Date(0) };
    const { details } = appFailure(Object.assign(new Error('no more tea'), { extensions }), 'FUNCTION_FAILED');
    expect(details).toEqual({ code: 'NO_TEA', since: '1970-01-01T00:00:00.000Z' });
  });

  it('keeps what can be read of it where a part of it cannot', () => {
    const unreadable = {
      get() {
        throw new Error('not even this');
      },
    };
    const failed = (name: string) =>
      appFailure(Object.defineProperty(new Error('no tea'), name, unreadable), 'APP_LOAD');
    const sealed = new Proxy({}, { ownKeys: unreadable.get });
    expect(failed('extensions')).toMatchObject({ message: 'no tea', stack: expect.stringContaining('no tea') });
    expect(failed('name').message).toBe('no tea');
    expect(failed('stack').message).toBe('no tea');
    expect(failed('message').message).toBe('Error');
    expect(failed('cause')).toMatchObject({ message: 'no tea', stack: expect.stringContaining('no tea') });
    expect(appFailure(Object.assign(new Error('no tea'), { extensions: sealed }), 'APP_LOAD').message).toBe('no tea');
    const said = Object.assign(new Error('no'), { message: { left: 0 }, name: 5 });
    expect(appFailure(said, 'APP_LOAD').message).toBe('{"left":0}');
    const extensions = Object.defineProperty({ code: 'NO_TEA' }, 'cups', { ...unreadable, enumerable: true });
    const half = appFailure(Object.assign(new Error('no tea'), { extensions }), 'APP_LOAD');
    expect(half).toMatchObject({ message: 'no tea', details: { code: 'NO_TEA' } });
    expect(appFailure(Object.assign(new Error('no tea'), { extensions: [1] }), 'APP_LOAD').message).toBe('no tea');
  });

  const ours = (stack: string, cause?: string) =>
    Object.assign(new GraphsteadError('AGENT_FAILED', 'no more tea', { fix: 'make some', cause }), { stack });
  const sent = 'async serve (/app/functions/tea.ts:9:2)';

  it('names the line that called what failed, behind what failed there', () => {
    const inAgent = frames('pour (/app/agents/pot.ts:3:9)');
    expect(appFailure(ours(frames(sent)), 'FUNCTION_FAILED').stack).toBe(frames(sent));
    expect(appFailure(ours(frames(sent), inAgent), 'FUNCTION_FAILED').stack).toBe(`${inAgent}\n    at ${sent}`);
    expect(appFailure(ours(frames(`run (${own})`), inAgent), 'FUNCTION_FAILED').stack).toBe(inAgent);
    const long = frames(...Array.from({ length: 70 }, () => sent));
    expect(appFailure(ours(frames(sent), long), 'FUNCTION_FAILED').stack?.split('\n')).toHaveLength(60);
  });

  it('tells the errors behind it, as many as help', () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED'), {
      stack: frames('Socket.connect (node:net:1:1)'),
    });
    const cause = Object.assign(new AggregateError([refused], 'no address'), { stack: frames(sent) });
    const thrown = Object.assign(new TypeError('fetch failed', { cause }), { stack: frames(sent) });
    expect(appFailure(thrown, 'AGENT_FAILED').stack).toBe(
      [frames(sent), `caused by: ${frames(sent)}`, `caused by: ${refused.stack}`].join('\n'),
    );
    cause.cause = thrown;
    expect(appFailure(thrown, 'AGENT_FAILED').stack?.match(/caused by/g)?.length).toBeLessThan(20);
  });

  it('has a message of a bounded length', () => {
    expect(appFailure(new TypeError(''), 'AGENT_FAILED').message).toBe('TypeError');
    const { message, stack = '' } = appFailure(new Error('x'.repeat(1e6)), 'AGENT_FAILED');
    expect(message).toMatch(/^x+ \.\.\.$/);
    expect(message.length + stack.length).toBeLessThan(50_000);
  });

  it('is told whatever it is', () => {
    const unreadable = new Proxy(new Error('no'), {
      get: () => {
        throw new Error('not even this');
      },
    });
    for (const thrown of [
      unreadable,
      Object.create(null, { toJSON: { value: 5 } }),
      Object.assign(new Error('no'), { stack: 5 }),
    ]) {
      expect(appFailure(thrown, 'AGENT_FAILED')).toMatchObject({ code: 'AGENT_FAILED', message: expect.any(String) });
    }
    expect(appFailure(Symbol('tea'), 'AGENT_FAILED').message).toBe('Symbol(tea)');
  });
});
