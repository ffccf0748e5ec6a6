import { describe, expect, it } from 'vitest';
import { freshAgentId } from '../agent-id.js';
import { shardOf } from '../keys.js';
import { Placement } from './placement.js';

const idle = [{ tasks: 0 }, { tasks: 0 }];

describe('the placement of calls', () => {
  it('puts a call that names an agent where its turns run', () => {
    const placement = new Placement();
    const id = freshAgentId();
    const args = ['count', null, id, { id: freshAgentId() }];
    for (let i = 0; i < 3; i++) expect(placement.of(args, idle)).toBe(shardOf(id));
  });

  it('puts all others in turn', () => {
    const placement = new Placement();
    const others = [[], ['agents'], [42], [`agent_${'x'.repeat(100)}`]];
    expect(others.map((args) => placement.of(args, idle) % 2)).toEqual([0, 1, 0, 1]);
  });

  it('does not crowd one process while another has little to do', () => {
    const placement = new Placement();
    const id = freshAgentId();
    const near = shardOf(id) % 2;
    const processes = (here: number, there: number) => idle.map((_, i) => ({ tasks: i === near ? here : there }));
    expect(placement.of([id], processes(16, 0))).toBe(shardOf(id));
    expect([0, 1].map(() => placement.of([id], processes(17, 0)))).toEqual([0, 1]);
    expect(placement.of([id], processes(80, 40))).toBe(shardOf(id));
  });
});
