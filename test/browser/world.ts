// What the explorer looks at in these tests: the example app mission-control with a model that answers by rule, and the
// packages of this project's lock file as a graph.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startService, type TestService } from '../service.js';

const ROOT = join(import.meta.dirname, '../..');
const EXAMPLES = join(ROOT, 'examples');

export interface World extends TestService {
  deploy(): Promise<string>;
}

export async function openWorld(): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'graphstead-explorer-'));
  const appDir = join(folder, 'mission-control');
  const model = await scriptedModel();
  cpSync(join(EXAMPLES, 'mission-control'), appDir, { recursive: true });
  writeFileSync(join(appDir, 'agents/shelf.ts'), SHELF);
  writeFileSync(join(appDir, 'app.json'), JSON.stringify(configOf((model.address() as AddressInfo).port)));
  const service = await startService({
    appDir,
    data: join(folder, 'data'),
    explorer: true,
    environment: { APP_ANALYSIS_API_KEY: 'hidden-key', GRAPHSTEAD_ALLOWED_HOSTS: '127.0.0.1' },
  });
  await service.schema(readFileSync(join(EXAMPLES, 'packages/schema.graphql'), 'utf8'));
  await service.rdf(`{ set {\n${await packages()}\n} }`);
  // In a clone the first request bundles the page.
  await service.get('/explorer');
  return {
    ...service,
    async deploy() {
      const { body } = await service.graphql('mutation { deployAgent }');
      return body.data.deployAgent as string;
    },
    async close() {
      await service.close();
      await new Promise((closed) => model.close(closed));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** An agent whose handlers take arguments. */
const SHELF = `
import { Agent, agents } from 'graphstead/app';

class Shelf extends Agent<{ items: string[] }> {
  static readonly handlers = ['put', 'count'] as const;
  static readonly readOnly = ['count'];
  override state = { items: [] as string[] };

  put(item: string, pieces: number): number {
    for (let piece = 0; piece < pieces; piece++) this.state.items.push(item);
    return this.state.items.length;
  }

  count(): number {
    return this.state.items.length;
  }
}

agents.register(Shelf);
`;

async function packages(): Promise<string> {
  const from = join(EXAMPLES, 'packages/lock-file.mjs');
  const { quads } = (await import(from)) as { quads(lock: unknown): Iterable<string> };
  return [...quads(JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')))].join('\n');
}

function configOf(port: number): unknown {
  const bearer = { Authorization: 'Bearer {{API_KEY}}' };
  return {
    models: { analyst: { sourceModel: 'scripted', connection: 'analysis', inputPrice: 1, outputPrice: 2 } },
    connections: {
      analysis: { type: 'http', baseUrl: `http://127.0.0.1:${port}/`, headers: bearer },
      weather: { type: 'http', baseUrl: 'http://127.0.0.1:1/', headers: bearer, optional: true },
      archive: { type: 'relational', connStr: '{{DATABASE_URL}}', optional: true },
    },
  };
}

function scriptedModel(): Promise<Server> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.setHeader('content-type', 'application/json');
      const message = { role: 'assistant', content: 'Yes.' };
      response.end(JSON.stringify({ choices: [{ message }], usage: { prompt_tokens: 12, completion_tokens: 3 } }));
    });
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}
