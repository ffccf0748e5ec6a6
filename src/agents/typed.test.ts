import { expect, expectTypeOf, it } from 'vitest';
import { Agent, type AgentInfo, type AgentRef, type AgentRefAsync, agents, graph } from './host.js';

interface Counted {
  readonly eventName: 'counted';
  readonly by: number;
}

class Counter extends Agent<{ count: number }> {
  static readonly agentName = 'typed-counter';
  static readonly version = 2;
  static readonly migrations = { 2: (state: { n: number }) => ({ count: state.n }) };
  static readonly handlers = ['add', 'later'] as const;
  override state = { count: 0 };
  add(by: number, twice = false): number {
    return by * (twice ? 2 : 1);
  }
  async later(text?: string): Promise<string | undefined> {
    return text;
  }
  hidden(): void {}
  /** both ways to tell an event; that they type-check is what is tested */
  tell(by: number): void {
    this.publishEvent({ eventName: 'counted', by });
    this.publishEvent<Counted>({ eventName: 'counted', by }, { live: true });
  }
}

agents.register(Counter);

it('gives the sender the types of the handlers it lists, and no others', () => {
  const ref = agents.ref(Counter, 'agent_1');
  expectTypeOf(ref).toEqualTypeOf<AgentRef<typeof Counter>>();
  expectTypeOf(ref.add).toEqualTypeOf<(by: number, twice?: boolean) => Promise<number>>();
  expectTypeOf(ref.later).toEqualTypeOf<(text?: string) => Promise<string | undefined>>();
  expectTypeOf(ref).not.toHaveProperty('hidden');
  expect(Object.keys(ref).sort()).toEqual(['add', 'id', 'later']);
  const later = agents.refAsync(Counter, 'agent_1', { idempotencyKey: 'k' });
  expectTypeOf(later).toEqualTypeOf<AgentRefAsync<typeof Counter>>();
  expectTypeOf(later.add).toEqualTypeOf<(by: number, twice?: boolean) => Promise<void>>();
  expect(Object.keys(later).sort()).toEqual(['add', 'id', 'later']);
});

it('gives lists that a function may give as they are', () => {
  expectTypeOf(agents.list).returns.resolves.toEqualTypeOf<AgentInfo[]>();
  expect(agents.list).toBeTypeOf('function');
});

it('says where app code must stand to reach the service', async () => {
  await expect(agents.start('typed-counter')).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  await expect(graph.query('{ q(func: has(name)) { name } }')).rejects.toThrow('graph.query');
  await expect(agents.start('nobody')).rejects.toMatchObject({ code: 'AGENT_TYPE_UNKNOWN' });
  expect(() => new Counter().id).toThrow('has no id');
});

it('refuses classes that cannot be agents', () => {
  const other = { Counter: class Counter extends Agent {} };
  expect(() => agents.register(Object as never)).toThrow('extends Agent');
  expect(() => agents.register(Object.assign(other.Counter, { agentName: 'typed-counter' }))).toThrow(
    'two agent classes',
  );
  expect(() =>
    agents.register(
      class Odd extends Agent {
        static version = 0;
      },
    ),
  ).toThrow('whole number');
});
