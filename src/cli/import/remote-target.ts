import { GraphsteadError, type Names } from '../../base/index.js';
import { printChange } from '../../dql/index.js';
import type { GraphChange } from '../../graph/index.js';
import { type RemoteService, remoteService } from '../remote-service.js';
import { ATTEMPTS, type Target } from './target.js';

/** A running service. Its uids are leased there, so that what others write meanwhile gets none of them. */
export function remoteTarget(url: string, key: string | undefined, names: Names): Target {
  const service: RemoteService = remoteService(url, key);

  async function write(changes: readonly GraphChange[], attempt = 1): Promise<void> {
    const lines = changes.map((change) => printChange(shown(change, names)));
    try {
      await service.send('/mutate?commitNow=true', `{ set {\n${lines.join('\n')}\n} }`, 'application/rdf');
    } catch (error) {
      if (!(error instanceof GraphsteadError) || error.code !== 'TXN_ABORTED' || attempt >= ATTEMPTS) throw error;
      await write(changes, attempt + 1);
    }
  }

  return {
    async lease(count) {
      const lease = await service.send(`/assign?what=uids&num=${count}`, '', 'text/plain');
      return Number(lease['startId']);
    },
    write: (changes) => write(changes),
    refused: async () => undefined,
    async schema(lines) {
      await service.send('/alter', lines, 'text/plain');
    },
    async graphql(text) {
      await service.send('/admin/schema', text, 'text/plain');
    },
  };
}

/** The change with its predicate as the service spells it. */
function shown(change: GraphChange, names: Names): GraphChange {
  return 'predicate' in change ? { ...change, predicate: names.shown(change.predicate) } : change;
}
