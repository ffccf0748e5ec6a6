import { describe, expect, it } from 'vitest';
import { createMetrics } from './metrics.js';

describe('metrics', () => {
  it('read the rooms at each scrape, under names that Prometheus takes', async () => {
    const metrics = createMetrics();
    let commits = 1;
    metrics.add('commit', () => ({ groupsLanded: commits }));
    expect(await metrics.text()).toContain('graphstead_commit_groups_landed 1');
    commits = 7;
    expect(await metrics.text()).toContain('graphstead_commit_groups_landed 7');
  });
});
