import { type Metric, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { createMetrics } from './metrics.js';
import { RequestFigures } from './request-figures.js';

describe('metrics', () => {
  it('read the rooms at each scrape, under names that Prometheus takes', async () => {
    const metrics = createMetrics();
    let commits = 1;
    metrics.add('commit', () => ({ groupsLanded: commits }));
    expect((await metrics.scrape()).text).toContain('graphstead_commit_groups_landed 1');
    commits = 7;
    expect((await metrics.scrape()).text).toContain('graphstead_commit_groups_landed 7');
  });

  it('count and time requests by route', async () => {
    const figures = new RequestFigures();
    figures.add('/query', 'POST', 200, 0.0004);
    figures.add('/query', 'POST', 200, 0.003);
    figures.add('/query', 'POST', 400, 20);
    const registry = new Registry();
    for (const metric of figures.metrics) registry.registerMetric(metric as unknown as Metric);
    const text = await registry.metrics();
    expect(text).toContain('graphstead_http_requests_total{route="/query",method="POST",status="200"} 2');
    expect(text).toContain('graphstead_http_requests_total{route="/query",method="POST",status="400"} 1');
    expect(text).toContain('graphstead_http_request_seconds_bucket{le="0.0005",route="/query"} 1');
    expect(text).toContain('graphstead_http_request_seconds_bucket{le="0.005",route="/query"} 2');
    expect(text).toContain('graphstead_http_request_seconds_bucket{le="10",route="/query"} 2');
    expect(text).toContain('graphstead_http_request_seconds_bucket{le="+Inf",route="/query"} 3');
    expect(text).toContain('graphstead_http_request_seconds_count{route="/query"} 3');
    expect(text).toContain('# TYPE graphstead_http_request_seconds histogram');
  });
});
