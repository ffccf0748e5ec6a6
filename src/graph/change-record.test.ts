import { describe, expect, it } from 'vitest';
import { atOnce, defaultNames, dgraphNames } from '../base/index.js';
import { encodeValue } from '../values/index.js';
import { changeRecord } from './change-record.js';
import { DeltaLog, OP } from './delta.js';
import type { GraphPart } from './part.js';

const json = (part: GraphPart, names = defaultNames) => {
  const record = changeRecord(part, names);
  return Array.from({ length: record.count }, (_, i) => JSON.parse(record.entry(i).json));
};

describe('public changes of a commit', () => {
  it('can be taken from any number on', () => {
    const log = new DeltaLog();
    for (let uid = 1; uid <= 5; uid++) {
      log.add(OP.setValue, 'name', uid, 0, '', encodeValue({ type: 'string', value: `n${uid}` }));
    }
    const record = changeRecord(atOnce(log.partInSteps()), defaultNames);
    expect(record.count).toBe(5);
    expect(JSON.parse(record.entry(3).json)).toEqual({ op: 'set', uid: '0x4', predicate: 'name', value: 'n4' });
  });

  it('keep every digit of large whole numbers, and hide passwords that are set or deleted', () => {
    const log = new DeltaLog();
    log.add(OP.setValue, 'n', 1, 0, '', encodeValue({ type: 'int', value: 9223372036854775807n }));
    log.add(OP.setValue, 'p', 1, 0, '', encodeValue({ type: 'password', value: 'hash' }));
    log.add(OP.deleteValue, 'p', 1, 0, '', encodeValue({ type: 'password', value: 'hash' }));
    const record = changeRecord(atOnce(log.partInSteps()), defaultNames);
    expect(record.entry(0).json).toContain('"value":9223372036854775807');
    expect(record.entry(1).json + record.entry(2).json).not.toContain('hash');
    expect(JSON.parse(record.entry(2).json)).toEqual({ op: 'delete', uid: '0x1', predicate: 'p', hidden: true });
  });

  it('show the names of the mode, in deltas and in schemas', () => {
    const log = new DeltaLog();
    log.create({ name: 'service.graphql.xid', type: 'string', list: false, lang: false });
    log.add(OP.deletePredicate, 'service.type', 1, 0, '');
    expect(json(atOnce(log.partInSteps()), dgraphNames)).toEqual([
      { op: 'predicate', predicate: 'dgraph.graphql.xid', schema: '<dgraph.graphql.xid>: string .', ifAbsent: true },
      { op: 'delete', uid: '0x1', predicate: 'dgraph.type', all: true },
    ]);
  });

  it('are none for leases, steps of a build, and commits without the graph', () => {
    const parts: readonly (GraphPart | undefined)[] = [
      { kind: 'lease', count: 5 },
      { kind: 'step', job: 1, bytes: 1 },
      undefined,
    ];
    expect(parts.map((part) => changeRecord(part, defaultNames))).toEqual(
      parts.map(() => expect.objectContaining({ count: 0 })),
    );
    expect(parts.map((part) => changeRecord(part, defaultNames).untold)).toEqual([undefined, undefined, undefined]);
  });

  it('say that a bulk load did more than they hold, at its last step only', () => {
    const bulk = (part: object) => changeRecord({ kind: 'bulk', ...part } as unknown as GraphPart, dgraphNames);
    expect(bulk({ step: 'write' }).untold).toBeUndefined();
    const loaded = [{ record: { name: 'name' } }, { record: { name: 'service.type' } }];
    expect(bulk({ step: 'finish', loaded })).toMatchObject({ count: 0, untold: ['name', 'dgraph.type'] });
  });
});
