import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { GraphsteadError } from '../../base/index.js';
import { argumentsText, eventText, resultText, stateFrom, stateText } from './json-text.js';

function refusal(state: unknown): GraphsteadError {
  try {
    stateText(state, 'agent_a');
  } catch (error) {
    return error as GraphsteadError;
  }
  throw new Error('nothing was refused');
}

const whatOf = (value: unknown) => /state\.kept is (.*)$/.exec(refusal({ kept: value }).message)?.[1];

class Cart {
  items = 2;
}
class Stack extends Array<number> {}

describe('the text of a state', () => {
  it('is its JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(stateText(value, 'agent_a')).toBe(JSON.stringify(value));
      }),
    );
    const shared = [1];
    const bare = Object.assign(Object.create(null), { left: undefined, a: shared, b: shared, zero: -0 });
    expect(stateText(bare, 'agent_a')).toBe('{"a":[1],"b":[1],"zero":0}');
    expect(refusal(undefined).message).toContain('state is undefined');
  });

  it('is taken back, and one that is no JSON is told with the agent and what to override', () => {
    expect(stateFrom('{"a":[1]}', 'agent_a')).toEqual({ a: [1] });
    expect(() => stateFrom('on|2', 'agent_a')).toThrow(
      expect.objectContaining({
        code: 'AGENT_STATE',
        message: expect.stringContaining('the state of agent agent_a is no JSON: Unexpected token'),
        fix: expect.stringContaining('override getState and setState'),
        details: { agentId: 'agent_a' },
      }),
    );
  });

  it('is all that is taken back: who gives the state itself is told what to do instead', () => {
    for (const [given, what] of [
      [{ count: 1 }, 'object'],
      [7, 'number'],
    ] as const) {
      expect(() => stateFrom(given, 'agent_a')).toThrow(
        expect.objectContaining({
          code: 'AGENT_STATE',
          message: `setState takes the text of a state, and was given ${what} for agent agent_a`,
          fix: expect.stringContaining('this.state = '),
        }),
      );
    }
  });

  it('names the place that JSON does not give back, and what to keep there', () => {
    const players = [{}, {}, {}, { joined: new Date(0) }];
    const { code, message, fix, details } = refusal({ turn: 1, players });
    expect({ code, message, fix, details }).toEqual({
      code: 'AGENT_STATE',
      message: 'the state of agent agent_a is no JSON: state.players[3].joined is an instance of Date',
      fix: 'give value.toISOString(), or value.getTime(), or override getState and setState',
      details: { agentId: 'agent_a', statePath: 'state.players[3].joined' },
    });
    expect(refusal({ 'a b': { 0: Number.NaN } }).details).toMatchObject({ statePath: 'state["a b"]["0"]' });
    expect(refusal(new Cart()).details).toMatchObject({ statePath: 'state' });
  });

  it.each([
    ['an instance of Map', new Map([[1, 2]])],
    ['an instance of Set', new Set([1])],
    ['an instance of Promise', Promise.resolve(1)],
    ['an instance of Error', new Error('gone')],
    ['an instance of Uint8Array', new Uint8Array(2)],
    ['an instance of RegExp', /a/],
    ['an instance of Cart', new Cart()],
    ['an instance of Stack', Stack.of(1, 2)],
    ['an object with a prototype of its own', Object.create({ inherited: 1 })],
    ['a function', () => 1],
    ['a symbol', Symbol('s')],
    ['a bigint', 1n],
    ['NaN', Number.NaN],
    ['-Infinity', Number.NEGATIVE_INFINITY],
  ])('has no place for %s', (what, value) => {
    expect(whatOf(value)).toBe(what);
    expect(refusal([value]).details).toMatchObject({ statePath: 'state[0]' });
  });

  it('has no place for a list with holes, nor for what goes round in a circle', () => {
    expect(refusal({ kept: [1, undefined] }).message).toContain('state.kept[1] is undefined in a list');
    expect(refusal({ kept: new Array(2) }).message).toContain('state.kept[0] is undefined in a list');
    const node: Record<string, unknown> = { name: 'a' };
    node['next'] = { back: node };
    expect(refusal({ node }).message).toContain('state.node.next.back is a part of itself');
  });

  it('tells why where no place is to blame', () => {
    const throwing = Object.defineProperty({}, 'now', {
      enumerable: true,
      get: () => {
        throw new Error('not now');
      },
    });
    expect(refusal(throwing).message).toContain('not now');
    let deep = {};
    for (let level = 0; level < 50_000; level++) deep = { deep };
    expect(refusal(deep)).toMatchObject({ code: 'AGENT_STATE', message: expect.stringContaining('call stack') });
  });
});

describe('what is sent and told', () => {
  const thrown = (work: () => unknown): unknown => {
    try {
      return work();
    } catch (error) {
      const { code, details } = error as GraphsteadError;
      return [code, details?.['valuePath']];
    }
  };

  it('names the place in arguments, results and events', () => {
    expect(thrown(() => argumentsText('move', [1, { at: new Date(0) }]))).toEqual(['INVALID_VALUE', 'arguments[1].at']);
    expect(thrown(() => argumentsText('move', [undefined, 1]))).toEqual(['INVALID_VALUE', 'arguments[0]']);
    expect(thrown(() => resultText('where', [Number.NaN]))).toEqual(['AGENT_FAILED', 'result[0]']);
    expect(thrown(() => resultText('where', () => 1))).toEqual(['AGENT_FAILED', 'result']);
    expect(thrown(() => eventText('moved', { by: new Set() }))).toEqual(['INVALID_VALUE', 'data.by']);
    expect(thrown(() => eventText('moved', { by: { 'two words': new Cart() } }))).toEqual([
      'INVALID_VALUE',
      'data.by["two words"]',
    ]);
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    expect(thrown(() => eventText('moved', circle))).toEqual(['INVALID_VALUE', 'data.self']);
    expect(thrown(() => eventText('moved', { by: 1n }))).toEqual(['INVALID_VALUE', 'data.by']);
  });

  it('leaves out arguments that are not given, and takes nothing for a result', () => {
    expect(argumentsText('move', [1, undefined, undefined])).toBe('[1]');
    expect(argumentsText('move', [])).toBe('[]');
    expect(resultText('where', undefined)).toBeUndefined();
    expect(resultText('where', null)).toBe('null');
  });

  it('tells in events what a value says of itself, and looks into that', () => {
    const at = new Date(0);
    const price = { toJSON: () => ({ cents: 5n }) };
    expect(eventText('moved', { at, list: [at] })).toBe(JSON.stringify({ at, list: [at] }));
    expect(eventText('moved', new URL('http://a.example/'))).toBe('"http://a.example/"');
    expect(eventText('moved', undefined)).toBe('{}');
    expect(thrown(() => eventText('moved', { price }))).toEqual(['INVALID_VALUE', 'data.price.cents']);
    expect(thrown(() => eventText('moved', { at: new Date(Number.NaN) }))).toEqual(['INVALID_VALUE', 'data.at']);
  });
});
