import { defaultNames, dgraphNames, GraphsteadError, type Names, TYPE_PREDICATE } from '../../base/index.js';
import { printChange } from '../../dql/index.js';
import type { GraphChange } from '../../graph/index.js';
import { type RemoteService, remoteService } from '../remote-service.js';
import { again, type Begun, type Language, type Target } from './target.js';

interface RemoteTarget extends Target {
  /** Tells the store from others, whatever stands at the address by now. */
  incarnation(): Promise<string>;
}

/**
 * A running service. Its uids are leased there, so that what others write meanwhile gets none of them; predicates go to it
 * by its own names, however the files spell them.
 */
export function remoteTarget(url: string, key: string | undefined): RemoteTarget {
  const service: RemoteService = remoteService(url, key);
  let asked: Promise<Names> | undefined;

  function names(): Promise<Names> {
    asked ??= service.send('/query', `schema(pred: [${TYPE_PREDICATE}]) {}`, 'application/dql').then(({ data }) => {
      const [shown] = (data as { schema: readonly { predicate: string }[] }).schema;
      return shown?.predicate === dgraphNames.shown(TYPE_PREDICATE) ? dgraphNames : defaultNames;
    });
    return asked;
  }

  async function send(changes: readonly GraphChange[], within = ''): Promise<void> {
    const spelling = await names();
    const lines = changes.map((change) => printChange(shown(change, spelling)));
    await service.send(`/mutate?commitNow=true${within}`, `{ set {\n${lines.join('\n')}\n} }`, 'application/rdf');
  }

  async function language(): Promise<Language> {
    const within = ({ startTs, hash }: Begun) => `&startTs=${startTs}&hash=${hash}`;
    return {
      names: await names(),
      async query(text) {
        const { data, extensions } = await service.send('/query?ro=false', text, 'application/dql');
        const { start_ts: startTs, hash } = (extensions as { txn: { start_ts: number; hash: string } }).txn;
        return { data: data as Record<string, unknown>, txn: { startTs, hash } };
      },
      write: (changes, txn) => send(changes, within(txn)),
      async abort(txn) {
        await service.send(`/commit?abort=true${within(txn)}`, '', 'text/plain');
      },
    };
  }

  return {
    async lease(count) {
      const lease = await service.send(`/assign?what=uids&num=${count}`, '', 'text/plain');
      return Number(lease['startId']);
    },
    write: (changes) => again(['TXN_ABORTED'], () => send(changes)),
    refused: async () => undefined,
    takesPeerType: async () => (await names()).dgraph,
    language,
    incarnation: () => incarnationOf(service),
    async declared() {
      const definitions = await (await service.get('/admin/schema')).text();
      if (definitions.trim() === '') return undefined;
      const { data } = (await service.send('/query', 'schema {}', 'application/dql')) as unknown as Shown;
      const predicates = new Set((data.schema ?? []).map(({ predicate }) => predicate));
      return { predicates, types: new Set((data.types ?? []).map(({ name }) => name)) };
    },
    async schema(lines) {
      await service.send('/alter', lines, 'text/plain');
    },
    async graphql(text) {
      await service.send('/admin/schema', text, 'text/plain');
    },
  };
}

/** What a service answers to `schema {}`. */
interface Shown {
  readonly data: {
    readonly schema?: readonly { readonly predicate: string }[];
    readonly types?: readonly { readonly name: string }[];
  };
}

/** The change with its predicate as the service spells it. */
function shown(change: GraphChange, names: Names): GraphChange {
  return 'predicate' in change ? { ...change, predicate: names.shown(change.predicate) } : change;
}

/** The stream of changes tells it in the id with which it begins. */
async function incarnationOf(service: RemoteService): Promise<string> {
  const { body } = await service.get('/changes');
  const decoder = new TextDecoder();
  let text = '';
  for await (const piece of body as ReadableStream<Uint8Array>) {
    text += decoder.decode(piece, { stream: true });
    const [, incarnation] = /^id: ([^.\n]+)\./m.exec(text) ?? [];
    if (incarnation !== undefined) return incarnation;
  }
  throw new GraphsteadError('REMOTE_REPLY', 'the stream of changes ended before it told where it begins', {
    fix: 'import again',
  });
}
