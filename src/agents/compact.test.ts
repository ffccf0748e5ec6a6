import fc from 'fast-check';
import { expect, it } from 'vitest';
import { compact, expanded } from './compact.js';
import type { FromHost, ToHost } from './protocol.js';

const text = fc.string();
const id = fc.nat();
const optional = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined });
const given = fc.option(fc.oneof(text, fc.array(fc.integer()), fc.record({ a: text })), { nil: null });
const claims = optional(fc.dictionary(text, given));
const message = fc.record({
  id: text,
  name: text,
  data: optional(text),
  from: text,
  attempt: id,
  typed: optional(fc.boolean()),
});
const task = fc.record({
  kind: fc.constantFrom('init', 'message', 'alarm', 'suspend', 'terminate'),
  agentId: text,
  type: text,
  load: optional(fc.record({ state: optional(text), version: id })),
  message: optional(message),
  readOnly: optional(fc.boolean()),
  calls: optional(id),
  requestId: text,
  trace: optional(fc.record({ traceparent: text })),
});
const effects = fc.record(
  { state: text, version: id, events: fc.array(fc.record({ name: text, data: text })), stops: fc.array(text) },
  { requiredKeys: [] },
);
const said = fc.oneof(
  fc.record({ k: fc.constant('turn'), id, task }),
  fc.record({
    k: fc.constant('call'),
    id,
    task: fc.record({ name: text, args: fc.array(given), requestId: text, claims, stream: optional(fc.boolean()) }),
  }),
  fc.record({ k: fc.constant('reply'), rpc: id, ok: fc.constant(true), value: optional(given) }),
  fc.record({ k: fc.constant('reply'), rpc: id, ok: fc.constant(false), error: fc.record({ message: text }) }),
  fc.record({ k: fc.constant('rpc'), rpc: id, id, n: id, once: fc.boolean(), method: text, args: fc.array(given) }),
  fc.record({ k: fc.constant('turned'), id, reply: optional(text), effects }),
  fc.record({ k: fc.constant('called'), id, value: optional(given), done: optional(fc.boolean()) }),
  fc.record({ k: fc.constant('ping'), n: id }),
);

it('what travels as a list comes as the message that it was', () => {
  const travelled = (one: unknown) => expanded(JSON.parse(JSON.stringify(compact(one as ToHost | FromHost))));
  fc.assert(
    fc.property(said, (one) => {
      expect(travelled(one)).toEqual(JSON.parse(JSON.stringify(one)));
    }),
  );
});
