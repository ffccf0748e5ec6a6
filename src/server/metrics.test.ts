import { describe, expect, it } from 'vitest';
import { mistakesOf } from '../../test/support/exposition.js';
import { Histogram } from '../base/index.js';
import { createCallLog } from '../connections/index.js';
import { FIGURES } from './figures.js';
import { createMetrics } from './metrics.js';
import { RequestFigures } from './request-figures.js';

describe('metrics', () => {
  it('read the rooms at each scrape, under names and types that Prometheus takes', async () => {
    const metrics = createMetrics('0.0.0');
    let groups = 1;
    metrics.add('commit', () => ({ groups, waiting: 2 }));
    expect((await metrics.scrape()).text).toContain('graphstead_commit_groups_total 1\n');
    groups = 7;
    const text = (await metrics.scrape()).text;
    expect(text).toContain('graphstead_commit_groups_total 7\n');
    expect(text).toContain('# TYPE graphstead_commit_groups_total counter\n');
    expect(text).toContain('# HELP graphstead_commit_waiting transactions that wait for their group\n');
    expect(text).toContain('# TYPE graphstead_commit_waiting gauge\n');
  });

  it('tell times as histograms', async () => {
    const metrics = createMetrics('0.0.0');
    const seconds = new Histogram();
    for (const time of [0.0004, 0.003, 0.003, 20]) seconds.add(time);
    metrics.add('commit', () => ({ seconds }));
    const { text } = await metrics.scrape();
    for (const line of [
      '_bucket{le="0.0005"} 1',
      '_bucket{le="0.005"} 3',
      '_bucket{le="10"} 3',
      '_bucket{le="+Inf"} 4',
      '_count 4',
    ]) {
      expect(text).toContain(`graphstead_commit_seconds${line}\n`);
    }
    expect(mistakesOf(text)).toEqual([]);
  });

  it('know what every figure of a room means', async () => {
    const metrics = createMetrics('0.0.0');
    metrics.add('commit', () => ({ surprise: 1 }));
    await expect(metrics.scrape()).rejects.toThrow(/figures\.ts does not say what "surprise" of commit means/);
  });

  it('say of each what a person can read, and name units the same way everywhere', () => {
    for (const [name, { type, help }] of Object.entries(FIGURES)) {
      expect(name).toMatch(/^graphstead_[a-z]+(_[a-z]+)+$/);
      expect(name.endsWith('_total'), name).toBe(type === 'counter');
      expect(help.length, name).toBeGreaterThan(10);
      expect(name, 'seconds and bytes are the units').not.toMatch(/_(ms|milliseconds|kb|mb)(_|$)/);
    }
  });

  it('sum the calls of connections and models', async () => {
    const metrics = createMetrics('0.0.0');
    const log = createCallLog();
    metrics.calls(log);
    const call = { connection: 'api', startedAt: 0, ms: 500 } as const;
    log.add({ ...call, kind: 'http', what: 'GET x', ok: true });
    log.add({ ...call, kind: 'http', what: 'GET x', ok: false, error: 'no' });
    const model = { name: 'writer', inputTokens: 7, outputTokens: 2, cost: 0.25 };
    log.add({ ...call, kind: 'model', what: 'writer', ok: true, model });
    const text = (await metrics.scrape()).text;
    for (const line of [
      'graphstead_connection_calls_total{connection="api",outcome="ok"} 1',
      'graphstead_connection_calls_total{connection="api",outcome="failed"} 1',
      'graphstead_connection_call_seconds_total{connection="api"} 1',
      'graphstead_model_calls_total{model="writer",outcome="ok"} 1',
      'graphstead_model_tokens_total{model="writer",direction="input"} 7',
      'graphstead_model_tokens_total{model="writer",direction="output"} 2',
      'graphstead_model_cost_total{model="writer"} 0.25',
    ]) {
      expect(text).toContain(`${line}\n`);
    }
  });

  it('count and time requests by route', () => {
    const figures = new RequestFigures();
    figures.add('/query', 'POST', 200, 0.0004);
    figures.add('/query', 'POST', 200, 0.003);
    figures.add('/query', 'POST', 400, 20);
    const labels = { route: '/query', method: 'POST' };
    expect(figures.counts()).toEqual([
      { labels: { ...labels, status: 200 }, value: 2 },
      { labels: { ...labels, status: 400 }, value: 1 },
    ]);
    const values = figures.timings('seconds');
    const bucket = (le: number | string) => values.find(({ labels }) => labels['le'] === le)?.value;
    expect([0.0005, 0.005, 10, '+Inf'].map(bucket)).toEqual([1, 2, 2, 3]);
    expect(values.at(-1)).toEqual({ metricName: 'seconds_count', labels: { route: '/query' }, value: 3 });
  });
});
