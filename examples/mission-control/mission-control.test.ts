import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AgentEvent, type Agents, agentsApplier, createAgents, createHosts } from '../../src/agents/index.js';
import type { Operation, RequestContext } from '../../src/api/index.js';
import { makeLimits } from '../../src/base/index.js';
import { createCommitter } from '../../src/commit/index.js';
import { type App, loadApp } from '../../src/functions/index.js';
import { createMemoryStore } from '../../src/store/index.js';

const appDir = dirname(fileURLToPath(import.meta.url));
let app: App;
let agents: Agents;
let close: () => Promise<void>;

/** what a configured model would answer; the app is loaded without one unless `resolved` names it */
let resolved: unknown;

beforeAll(async () => {
  const cacheDir = mkdtempSync(join(appDir, '.graphstead-test-'));
  const limits = makeLimits();
  const store = createMemoryStore();
  const committer = await createCommitter({ store, appliers: [agentsApplier(limits)], limits });
  const hosts = createHosts({ limits, count: 1 });
  agents = createAgents({ committer, incarnation: store.incarnation, hosts, limits });
  app = await loadApp({ appDir, dev: false, hosts, agents, limits, cacheDir, connections: () => resolved });
  await agents.resume();
  close = async () => {
    await app.close();
    await agents.close();
    await hosts.close();
    await committer.close();
    rmSync(cacheDir, { recursive: true, force: true });
  };
});
afterAll(() => close());

function run(name: string, args: Record<string, unknown> = {}): Promise<unknown> {
  const operation = app.operations.find((one) => one.name === name) as Operation;
  const context: RequestContext = { requestId: 'r', headers: {}, signal: new AbortController().signal, extensions: {} };
  return operation.run?.(args, context) as Promise<unknown>;
}

async function eventsUntil(agentId: string, last: string): Promise<AgentEvent[]> {
  const seen: AgentEvent[] = [];
  for await (const event of agents.events({ agentId })) {
    seen.push(event);
    if (event.name === last) break;
  }
  return seen;
}

describe('mission-control', () => {
  it('offers the operations of its functions', () => {
    const shown = app.operations.map(({ name, kind, args, type }) => {
      return `${kind} ${name}(${Object.entries(args).map(([arg, { type: of }]) => `${arg}: ${of}`)}): ${type}`;
    });
    expect(shown).toEqual([
      'mutation deployAgent(): String!',
      'mutation importActivity(agentId: String,activityData: String): String!',
      'query getThreatStatus(agentId: String): String!',
      'query checkMissionProgress(agentId: String): MissionStatus!',
      'query testConnection(): String!',
    ]);
  });

  it('runs a mission without a key and without a network', async () => {
    const agentId = (await run('deployAgent')) as string;
    const watching = eventsUntil(agentId, 'mission_completed');
    for (let i = 1; i <= 5; i++) {
      const data = `Unusual activity, unknown agent detected in sector ${i}`;
      expect(await run('importActivity', { agentId, activityData: data })).toContain('Report received');
    }
    const events = await watching;
    const keys = Object.fromEntries(events.map((event) => [event.name, Object.keys(event.data as object).sort()]));
    expect(keys).toEqual({
      mission_started: ['activityData', 'estimatedDuration', 'missionName', 'priority'],
      ai_analysis_started: ['contextSize', 'modelName', 'reportCount'],
      agent_threat_detected: ['analysis', 'confidence', 'indicators', 'recommendation', 'threatLevel'],
      surveillance_progress: ['phase', 'progress', 'reportsProcessed', 'totalReports'],
      mission_completed: ['confidence', 'missionName', 'reportsAnalyzed', 'status'],
    });
    expect(events.filter((event) => event.name === 'mission_started')).toHaveLength(1);
    expect(events[0].name).toBe('mission_started');
    expect(events[0].timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(await run('checkMissionProgress', { agentId })).toEqual({
      phase: 'COMPLETE',
      progress: 1,
      currentTask: 'Mission complete',
      estimatedTimeRemaining: 0,
      isComplete: true,
    });
    expect(await run('getThreatStatus', { agentId })).toContain('HIGH');
    const status = JSON.parse((await agents.send(agentId, 'get_status')) ?? '') as Record<string, unknown>;
    expect(Object.keys(status).sort()).toEqual([
      'current_task',
      'estimated_time_remaining',
      'is_complete',
      'phase',
      'progress',
    ]);
    expect(JSON.parse((await agents.send(agentId, 'intelligence_history')) ?? '')).toHaveLength(1);
  });

  it('names what is missing or unknown', async () => {
    await expect(run('importActivity', { activityData: 'x' })).rejects.toThrow('agentId is missing');
    await expect(run('getThreatStatus', { agentId: 'nobody' })).rejects.toThrow('nobody');
    const agentId = (await run('deployAgent')) as string;
    await expect(agents.send(agentId, 'dance')).rejects.toThrow('"dance"');
    expect(await run('testConnection')).toContain('APP_ANALYSIS_API_KEY');
  });

  it('uses a model when one is configured', async () => {
    const asked: { messages: { content: string }[] }[] = [];
    const model = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => {
        asked.push(JSON.parse(body));
        const choices = [{ message: { role: 'assistant', content: 'All quiet, says the model.' } }];
        response.setHeader('content-type', 'application/json').end(JSON.stringify({ choices }));
      });
    });
    await new Promise<void>((ready) => model.listen(0, '127.0.0.1', ready));
    const { port } = model.address() as AddressInfo;
    resolved = {
      connections: { analysis: { type: 'http', baseUrl: `http://127.0.0.1:${port}/` } },
      missing: {},
      models: { analyst: { sourceModel: 'm', connection: 'analysis', path: 'v1/chat/completions' } },
    };
    await app.reload();
    const agentId = (await run('deployAgent')) as string;
    expect(await run('getThreatStatus', { agentId })).toContain('All quiet, says the model.');
    expect(await run('testConnection')).toBe('All quiet, says the model.');
    expect(asked).toHaveLength(2);
    model.closeAllConnections();
    model.close();
    resolved = undefined;
    await app.reload();
  });
});
