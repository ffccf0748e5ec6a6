import { mkdirSync, writeFileSync } from 'node:fs';
import { SignJWT } from 'jose';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startApp, type TestApp } from '../../src/testing.js';
import { scratch } from './command.js';

// They start processes: on a busy machine each takes its time.
vi.setConfig({ testTimeout: 120_000 });

let folder: ReturnType<typeof scratch>;
let app: TestApp | undefined;
beforeEach(() => {
  folder = scratch();
  mkdirSync(folder.path('functions'));
  const connection = { type: 'http', baseUrl: '{{URL}}', headers: { authorization: '{{KEY}}' } };
  const models = { oracle: { sourceModel: 'm', connection: 'ai' } };
  writeFileSync(folder.path('app.json'), JSON.stringify({ connections: { ai: connection }, models }));
  writeFileSync(
    folder.path('functions', 'index.ts'),
    `import { caller, models } from 'graphstead/app';
     export async function askOracle(question: string): Promise<string> {
       const reply = await models.get('oracle').ask('be brief', question);
       return reply.choices[0].message.content ?? '';
     }
     /** @query */
     export async function streamOracle(): Promise<string[]> {
       const pieces: string[] = [];
       for await (const piece of models.get('oracle').stream([{ role: 'user', content: 'x' }])) pieces.push(piece);
       return pieces;
     }
     export function getTime(): string { return new Date().toISOString() + ' ' + Date.now() + ' ' + new Date(0).getTime(); }
     export function getUser(): string { return String(caller.claims?.['USER']); }
     export function getVariable(): string { return process.env.GREETING ?? ''; }`,
  );
});
afterEach(async () => {
  await app?.close();
  app = undefined;
  folder.remove();
});

describe('graphstead/testing', () => {
  it('scripts models, stops time, and passes variables', async () => {
    const script = ['forty-two', new Error('overworked'), 'one two'];
    app = await startApp({ appDir: folder.dir, models: { oracle: script }, environment: { GREETING: 'hello' } });
    const ask = 'mutation ($q: String!) { askOracle(question: $q) }';
    expect(await app.graphql(ask, { q: 'why?' })).toEqual({ askOracle: 'forty-two' });
    expect(app.modelCalls[0]).toMatchObject({ model: 'oracle', messages: [{ role: 'system' }, { content: 'why?' }] });
    await expect(app.graphql(ask, { q: 'again?' })).rejects.toThrow('overworked');
    expect(await app.graphql('{ streamOracle }')).toEqual({ streamOracle: ['one', ' two'] });
    await expect(app.graphql(ask, { q: 'more?' })).rejects.toThrow('has 3 replies, no more');

    const start = Date.UTC(2030, 0, 1);
    const shown = (at: number) => ({ getTime: `${new Date(at).toISOString()} ${at} 0` });
    expect(await app.graphql('{ getTime }')).toEqual(shown(start));
    await app.advance(86_400_000);
    expect(app.now().toISOString()).toBe('2030-01-02T00:00:00.000Z');
    expect(await app.graphql('{ getTime }')).toEqual(shown(start + 86_400_000));
    await expect(app.advance(-1)).rejects.toThrow('forward');
    expect(await app.graphql('{ getVariable }')).toEqual({ getVariable: 'hello' });
  });

  it('sends headers, such as that of a token', async () => {
    const authorization = { Header: 'X-Auth', Namespace: 'own', Algo: 'HS256', VerificationKey: 'k'.repeat(32) };
    const sdl = `# Service.Authorization ${JSON.stringify(authorization)}\ntype Page { name: String! @id }`;
    writeFileSync(folder.path('schema.graphql'), sdl);
    app = await startApp({ appDir: folder.dir, models: { oracle: [] } });
    const token = await new SignJWT({ own: { USER: 'ann' } })
      .setProtectedHeader({ alg: 'HS256' })
      .sign(Buffer.from(authorization.VerificationKey));
    expect(await app.graphql('{ getUser }', {}, { 'x-auth': token })).toEqual({ getUser: 'ann' });
    expect(await app.graphql('{ getUser }')).toEqual({ getUser: 'undefined' });
    await expect(app.graphql('{ getUser }', {}, { 'x-auth': 'none' })).rejects.toThrow('token');
  });

  it('refuses what the app does not have, and leaves nothing open', async () => {
    await expect(startApp({ appDir: folder.dir, models: { nobody: [] } })).rejects.toThrow('no model "nobody"');
    await expect(startApp({ appDir: folder.dir })).rejects.toThrow('APP_AI_URL');
  });
});
