// Section D of the specification over HTTP, on the example app mission-control.
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sharedFolder } from '../folder.js';
import { startService, type TestService } from '../service.js';
import { openStream, type SseStream } from '../sse.js';

const appDir = resolve(import.meta.dirname, '../../examples/mission-control');
const data = sharedFolder();
let s: TestService;
beforeAll(async () => {
  s = await startService({ appDir, data });
});
afterAll(async () => {
  await s?.close();
});

async function deploy(): Promise<string> {
  const { body } = await s.graphql('mutation { deployAgent }');
  expect(body.errors).toBeUndefined();
  expect(typeof body.data.deployAgent).toBe('string');
  return body.data.deployAgent;
}

const IMPORT = 'mutation($id: String, $data: String) { importActivity(agentId: $id, activityData: $data) }';
const STATUS = 'query($id: String) { getThreatStatus(agentId: $id) }';
const PROGRESS =
  'query($id: String) { checkMissionProgress(agentId: $id) { phase progress currentTask estimatedTimeRemaining isComplete } }';
const EVENTS = 'subscription($id: String) { agentEvent(agentId: $id) { name data timestamp } }';

function subscribe(id: string, headers: Record<string, string> = {}): Promise<SseStream> {
  return openStream(`${s.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...headers },
    body: JSON.stringify({ query: EVENTS, variables: { id } }),
  });
}

describe('Operations exposed from app functions', () => {
  it('deployAgent: mutation, no arguments, String: the new agent id', async () => {
    expect(await deploy()).not.toBe(await deploy());
  });

  it("importActivity: mutation(agentId, activityData): the agent's reply", async () => {
    const { body } = await s.graphql(IMPORT, { id: await deploy(), data: 'sensor anomaly at the northern gate' });
    expect(body.errors).toBeUndefined();
    expect(body.data.importActivity.length).toBeGreaterThan(0);
  });

  it("getThreatStatus: query(agentId): the agent's reply", async () => {
    const { body } = await s.graphql(STATUS, { id: await deploy() });
    expect(body.errors).toBeUndefined();
    expect(body.data.getThreatStatus.length).toBeGreaterThan(0);
  });

  it('checkMissionProgress: query(agentId): phase, progress, currentTask, estimatedTimeRemaining, isComplete', async () => {
    const { body } = await s.graphql(PROGRESS, { id: await deploy() });
    expect(body.errors).toBeUndefined();
    expect(body.data.checkMissionProgress).toEqual({
      phase: expect.any(String),
      progress: expect.any(Number),
      currentTask: expect.any(String),
      estimatedTimeRemaining: expect.any(Number),
      isComplete: expect.any(Boolean),
    });
    expect(Number.isInteger(body.data.checkMissionProgress.estimatedTimeRemaining)).toBe(true);
  });

  it('arguments fit String and String! variables alike', async () => {
    const id = await deploy();
    const { body } = await s.graphql('query($id: String!) { getThreatStatus(agentId: $id) }', { id });
    expect(body.errors).toBeUndefined();
  });
});

describe('Agent messages', () => {
  it('state is kept between messages', async () => {
    const id = await deploy();
    const before = (await s.graphql(PROGRESS, { id })).body.data.checkMissionProgress;
    await s.graphql(IMPORT, { id, data: 'one report' });
    const after = (await s.graphql(PROGRESS, { id })).body.data.checkMissionProgress;
    expect(after).not.toEqual(before);
  });

  it('an unknown agent id is an error naming the id', async () => {
    const { body } = await s.graphql(STATUS, { id: 'agent_nowhere' });
    expect(body.errors[0].message).toContain('agent_nowhere');
    expect(body.errors[0].extensions.code).toBe('AGENT_UNKNOWN');
  });

  it('a missing agent id is an error of its own', async () => {
    const { body } = await s.graphql(STATUS, {});
    expect(body.errors[0].message).toMatch(/agentId/);
    expect((await s.graphql(IMPORT, { data: 'x' })).body.errors[0].message).toMatch(/agentId/);
  });

  it('a report that is none is an error of its own, and no progress', async () => {
    const id = await deploy();
    for (const data of [undefined, null, '']) {
      expect((await s.graphql(IMPORT, { id, data })).body.errors[0].message).toMatch(/activityData/);
    }
    const { body } = await s.graphql(PROGRESS, { id });
    expect(body.data.checkMissionProgress).toMatchObject({ phase: 'PLANNING', progress: 0 });
  });
});

describe('Agent event subscription', () => {
  it('streams name, data and timestamp (ISO 8601 UTC) for each event, in the order of publishing', async () => {
    const id = await deploy();
    const stream = await subscribe(id);
    expect(stream.status).toBe(200);
    expect(stream.headers.get('content-type')).toMatch(/^text\/event-stream/);
    await s.graphql(IMPORT, { id, data: 'threat: intruder at the gate' });
    const events: { name: string; data: Record<string, unknown>; timestamp: string }[] = [];
    while (
      !events.some((event) => event.name === 'mission_started') ||
      !events.some((event) => event.name === 'surveillance_progress')
    ) {
      const frame = await stream.next();
      expect(frame?.event).toBe('next');
      expect(frame?.id).toMatch(/^[^.]+\.\d+\.\d+$/);
      events.push(JSON.parse(frame?.data ?? '{}').data.agentEvent);
    }
    stream.close();
    for (const event of events) expect(event.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
    const payload = (name: string) => events.find((event) => event.name === name)?.data;
    expect(payload('mission_started')).toMatchObject({
      missionName: expect.any(String),
      priority: expect.any(String),
      estimatedDuration: expect.any(String),
    });
    expect(payload('surveillance_progress')).toMatchObject({
      phase: expect.any(String),
      progress: expect.any(Number),
      reportsProcessed: expect.any(Number),
      totalReports: expect.any(Number),
    });
  });

  it('agent_threat_detected carries threatLevel, confidence, indicators and recommendation', async () => {
    const id = await deploy();
    const stream = await subscribe(id);
    await s.graphql(IMPORT, { id, data: 'threat: intruder with explosives, breach of the perimeter, attack imminent' });
    for (;;) {
      const frame = await stream.next();
      const event = JSON.parse(frame?.data ?? '{}').data.agentEvent;
      if (event.name !== 'agent_threat_detected') continue;
      expect(event.data).toMatchObject({
        threatLevel: expect.any(String),
        confidence: expect.any(Number),
        indicators: expect.any(Array),
        recommendation: expect.any(String),
      });
      break;
    }
    stream.close();
  });

  it('one subscription is of one agent only', async () => {
    const [one, two] = [await deploy(), await deploy()];
    const stream = await subscribe(one);
    await s.graphql(IMPORT, { id: two, data: 'from two' });
    await s.graphql(IMPORT, { id: one, data: 'from one' });
    const frame = await stream.next();
    expect(JSON.parse(frame?.data ?? '{}').data.agentEvent.name).toBe('mission_started');
    stream.close();
    const replay = await openStream(`${s.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({
        query: 'subscription($id: String) { agentEvent(agentId: $id, after: "0.0.0") { name } }',
        variables: { id: one },
      }),
    });
    expect(replay.status).toBe(200);
    replay.close();
  });

  it('a stream resumes after Last-Event-ID without loss or repetition', async () => {
    const id = await deploy();
    const first = await subscribe(id);
    await s.graphql(IMPORT, { id, data: 'one' });
    const seen = await first.next();
    first.close();
    await s.graphql(IMPORT, { id, data: 'two' });
    const resumed = await subscribe(id, { 'last-event-id': seen?.id ?? '' });
    const next = await resumed.next();
    expect(next?.id).not.toBe(seen?.id);
    const [, timestamp, n] = (seen?.id ?? '').split('.').map(Number);
    const [, laterTimestamp, laterN] = (next?.id ?? '').split('.').map(Number);
    expect(laterTimestamp > timestamp || (laterTimestamp === timestamp && laterN === n + 1)).toBe(true);
    resumed.close();
  });

  it('a missing agentId is an error', async () => {
    const stream = await openStream(`${s.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ query: 'subscription { agentEvent { name } }' }),
    });
    expect((await stream.value()).errors[0].message).toMatch(/agentId/);
    stream.close();
  });

  it('is a stream wherever the client takes one; queries are answered as it likes best', async () => {
    const id = await deploy();
    const post = (accept: string, query: string) =>
      fetch(`${s.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept },
        body: JSON.stringify({ query, variables: { id } }),
      });
    for (const [accept, type] of [
      ['application/json, text/event-stream', 'application/json'],
      ['text/event-stream;q=0.5, application/json', 'application/json'],
      ['application/json;q=0.1, application/graphql-response+json', 'application/graphql-response+json'],
      ['text/event-stream, application/json', 'text/event-stream; charset=utf-8'],
      ['text/event-stream;q=0, text/html', 'application/json'],
    ]) {
      const answer = await post(accept, STATUS);
      expect(answer.headers.get('content-type')).toBe(type);
      expect(await answer.text()).toContain('getThreatStatus');
    }
    const stream = await post('application/json, text/event-stream', EVENTS);
    expect(stream.headers.get('content-type')).toMatch(/^text\/event-stream/);
    await stream.body?.cancel();
  });

  it('browsers subscribe by GET', async () => {
    const id = await deploy();
    const stream = await openStream(
      `${s.url}/graphql?query=${encodeURIComponent(EVENTS)}&variables=${encodeURIComponent(JSON.stringify({ id }))}`,
      {
        headers: { accept: 'text/event-stream' },
      },
    );
    await s.graphql(IMPORT, { id, data: 'hello' });
    expect((await stream.value()).data.agentEvent.name).toBe('mission_started');
    stream.close();
  });
});

describe('Agent lifecycle', () => {
  it('after a restart of the service the agent resumes with its state intact', async () => {
    const id = await deploy();
    await s.graphql(IMPORT, { id, data: 'kept' });
    const fresh = (await s.graphql(PROGRESS, { id: await deploy() })).body.data.checkMissionProgress;
    const before = (await s.graphql(PROGRESS, { id })).body.data.checkMissionProgress;
    expect(before.progress).toBeGreaterThan(fresh.progress);
    await s.close();
    s = await startService({ appDir, data });
    const after = (await s.graphql(PROGRESS, { id })).body.data.checkMissionProgress;
    // work in the background may have gone on, and none of it may be lost
    expect(after.progress).toBeGreaterThanOrEqual(before.progress);
  });
});
