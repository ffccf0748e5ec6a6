import { getOperationAST, type DocumentNode } from 'graphql';
import { Refusal, request } from '../http';
import { frames } from '../sse';

/** events of a subscription that stay in the answer */
const KEPT = 100;

interface Parameters {
  readonly query: string;
  readonly operationName?: string | null;
  readonly variables?: unknown;
}

interface Options {
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly documentAST?: DocumentNode;
}

/** Queries and mutations over POST; subscriptions by GraphQL-SSE, each event shown as it comes. */
export function fetcher(parameters: Parameters, options: Options = {}): Promise<unknown> | AsyncGenerator<unknown> {
  const operation = options.documentAST && getOperationAST(options.documentAST, parameters.operationName);
  return operation?.operation === 'subscription' ? stream(parameters, options) : once(parameters, options);
}

function init(parameters: Parameters, options: Options, accept: string): RequestInit {
  const own = Object.entries(options.headers ?? {}).map(([name, value]) => [name, String(value)] as [string, string]);
  return {
    method: 'POST',
    headers: [['content-type', 'application/json'], ['accept', accept], ...own],
    body: JSON.stringify(parameters),
  };
}

async function once(parameters: Parameters, options: Options): Promise<unknown> {
  const response = await request('/graphql', init(parameters, options, 'application/json'));
  return response.json();
}

/** Events often come in bursts: the last ones stay in view, not the very last alone. */
async function* stream(parameters: Parameters, options: Options): AsyncGenerator<unknown> {
  const stop = new AbortController();
  const latest: unknown[] = [];
  let received = 0;
  try {
    const response = await request('/graphql', {
      ...init(parameters, options, 'text/event-stream'),
      signal: stop.signal,
    });
    if (!response.headers.get('content-type')?.startsWith('text/event-stream') || !response.body) {
      yield await response.json();
      return;
    }
    for await (const { event, data } of frames(response.body)) {
      if (event === 'complete') return;
      if (event !== 'next') continue;
      received++;
      latest.unshift(JSON.parse(data));
      if (latest.length > KEPT) latest.pop();
      yield { received, newestFirst: latest };
    }
    throw new Refusal('the stream ended before it was complete', 0, undefined, 'run the subscription again');
  } finally {
    stop.abort();
  }
}
