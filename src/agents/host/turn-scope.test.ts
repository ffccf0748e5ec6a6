import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { limitEffects, TurnScope } from './turn-scope.js';

/** bytes of one effect of ten letters */
const ONE = 42;
const TEN = 'x'.repeat(10);

let scope: TurnScope;
beforeEach(() => {
  limitEffects(2 * ONE);
  scope = new TurnScope('ann', false, undefined);
});
afterEach(() => limitEffects(Number.POSITIVE_INFINITY));

const publish = () => scope.event({ name: '', data: TEN });
const tooMuch = expect.objectContaining({ code: 'LIMIT_EXCEEDED' });

describe('what a turn gathers', () => {
  it('is bounded as a whole, and anew behind a checkpoint', () => {
    publish();
    scope.send({ to: 'bob', name: '', data: TEN });
    expect(publish).toThrow(tooMuch);
    scope.take(undefined, 1);
    publish();
    scope.stop(TEN);
    expect(() => scope.start({ id: '', type: TEN })).toThrow(tooMuch);
  });

  it('holds the last word about each alarm, in the order of the last words, and counts no other', () => {
    for (const at of [1, 2, 3]) scope.alarm({ id: 'a', at, data: 'x'.repeat(9) });
    scope.alarm({ id: 'b', at: 4, data: 'x'.repeat(9) });
    scope.alarm({ id: 'a' });
    expect(scope.take(undefined, 1).alarms).toEqual([{ id: 'b', at: 4, data: 'x'.repeat(9) }, { id: 'a' }]);
    expect(scope.take(undefined, 1)).toEqual({});
  });

  it('is handed out once, and not at all where some of it was lost', () => {
    publish();
    expect(scope.take('{}', 2)).toEqual({ events: [{ name: '', data: TEN }], state: '{}', version: 2 });
    expect(scope.take(undefined, 2)).toEqual({});
    scope.lose(new Error('the checkpoint failed'));
    expect(() => scope.take(undefined, 2)).toThrow('the checkpoint failed');
  });
});
