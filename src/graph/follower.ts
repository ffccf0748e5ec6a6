import type { Follower } from '../commit/index.js';
import type { GraphShared } from './applier.js';
import { graphPart, type GraphPart } from './part.js';
import type { SchemaVersion } from './schema.js';

/** Keeps the caches of a graph that only reads; register it with the follower before the graph is created on it. */
export function graphFollower(shared: GraphShared): Follower {
  return {
    async saw(snapshot, records) {
      const before = shared.schemas.newest;
      const schema = await shared.schemas.read(snapshot);
      for (const record of records) {
        const part = graphPart(record);
        if (part) shared.landed({ version: record.commitTs, predicates: touched(part, [before, schema]) });
      }
    },
  };
}

/** Names of the predicates that it may have touched. */
function touched(part: GraphPart, schemas: readonly SchemaVersion[]): ReadonlySet<string> {
  if (part.kind === 'changes') return new Set(part.names);
  // alters and bulk loads tell only to the applier which they touch; the others change no value
  if (part.kind !== 'alter' && part.kind !== 'bulk') return new Set();
  return new Set(schemas.flatMap(({ predicates }) => predicates.map(({ name }) => name)));
}
