import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonWriter } from '../../base/index.js';
import { GLOBAL_UID } from '../run/index.js';
import { uidText, writeUid } from './field.js';

describe('uids', () => {
  it('are written as they read', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: GLOBAL_UID }), (uid) => {
        const out = new JsonWriter();
        writeUid(out, uid);
        expect(out.view().toString()).toBe(JSON.stringify(uidText(uid)));
      }),
    );
  });

  it('has one that stands for all nodes', () => {
    expect(uidText(GLOBAL_UID)).toBe('0xffffffffffffffff');
  });
});
