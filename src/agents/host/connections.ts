import { givenOptions, GraphsteadError } from '../../base/index.js';
import type {
  CallRecord,
  ChatModel,
  ChatOptions,
  ChatReply,
  Connections,
  GraphConnection,
  HttpConnection,
  Models,
  OpenConnections,
  RelationalConnection,
  ResolvedConnections,
} from '../../connections/host.js';
import { calledHere } from './called-here.js';
import { currentTask, type Task } from './task.js';

/** What an app without connections has: the clients' libraries are not even loaded for it. */
const NONE: Pick<OpenConnections, 'connections' | 'models'> = {
  connections: { http: noConnection, relational: noConnection, graph: noConnection, has: () => false },
  models: { get: noModel, has: () => false },
};

let open = NONE;

/** Takes the app's connections as they were resolved at load; `told` hears of each finished call. */
export async function useConnections(
  resolved: unknown,
  replyBytes: number,
  told: (record: CallRecord) => void,
): Promise<void> {
  const given = resolved as ResolvedConnections | undefined;
  if (given === undefined || !Object.values(given).some((part: object) => Object.keys(part).length > 0)) return;
  const { endCallsBy, onCall, openConnections, traceHeaders } = await import('../../connections/host.js');
  onCall(told);
  traceHeaders(() => currentTask()?.traceHeaders ?? {});
  endCallsBy(() => currentTask()?.callSignal);
  open = openConnections(given, replyBytes);
}

function noConnection(name: string): never {
  throw new GraphsteadError('CONNECTION_UNKNOWN', `there is no connection "${name}"`, {
    fix: 'add it under connections in app.json',
  });
}

function noModel(name: string): never {
  throw new GraphsteadError('MODEL_UNKNOWN', `there is no model "${name}"`, { fix: 'add it under models in app.json' });
}

/** The app's connections by the names of app.json. */
export const connections: Connections = {
  http: (name) => journaledHttp(name, open.connections.http(name)),
  relational: (name) => namedRelational(open.connections.relational(name)),
  graph: (name) => namedGraph(open.connections.graph(name)),
  has: (name) => open.connections.has(name),
};

/** The app's models by the names of app.json. */
export const models: Models = {
  get: (name) => journaledModel(name, open.models.get(name)),
  has: (name) => open.models.has(name),
};

// A turn that runs again (its host died, or its commit met another) gets the replies of calls that had finished: a
// model is not paid twice. Outside of a task there is nothing to run again.

function journaledModel(name: string, model: ChatModel): ChatModel {
  const optionsOf = (given: ChatOptions | undefined): ChatOptions =>
    givenOptions(`model "${name}"`, given, '{ temperature: 0.2 }');
  const chat: ChatModel['chat'] = async (messages, given) => {
    const options = optionsOf(given);
    const task = currentTask();
    if (task === undefined) return model.chat(messages, options);
    const { signal = signalFor(task), idempotencyKey, onText, ...asked } = options;
    const tellsText = onText !== undefined && telling(onText);
    const reply = await task.once(`model ${name}`, [messages, asked], (key) =>
      model.chat(messages, {
        ...asked,
        signal,
        idempotencyKey: idempotencyKey ?? key,
        ...(tellsText ? { onText: tellsText.piece } : {}),
      }),
    );
    if (tellsText) await tellsText.rest(reply);
    return reply;
  };
  return {
    chat: calledHere(chat),
    ask: calledHere((system, user, options) =>
      chat(
        [
          { role: 'system', content: system },
          { role: 'user', content: user },
        ],
        options,
      ),
    ),
    stream: (messages, options) => model.stream(messages, { signal: signalFor(currentTask()), ...optionsOf(options) }),
  };
}

/** Nobody pays for a reply behind the task's end. What is asked once its reader has left is its tidying up. */
function signalFor(task: Task | undefined): AbortSignal | undefined {
  return task?.signal.aborted ? undefined : task?.signal;
}

/** Whoever listens hears the whole text, also of a reply that was not asked for again. */
function telling(onText: NonNullable<ChatOptions['onText']>) {
  let told = false;
  return {
    piece: (text: string) => {
      told = true;
      return onText(text);
    },
    async rest({ choices: [{ message }] }: ChatReply): Promise<void> {
      if (!told && message.content) await onText(message.content);
    },
  };
}

function journaledHttp(name: string, http: HttpConnection): HttpConnection {
  return {
    fetch: calledHere((path, init) => http.fetch(path, init)),
    json: calledHere(<T>(path: string, init?: Parameters<HttpConnection['json']>[1]): Promise<T> => {
      const task = currentTask();
      const { body, method } = init ?? {};
      const plain = typeof body === 'string' || body === undefined || body === null;
      if (task === undefined || !plain) return http.json<T>(path, init);
      return task.once(`http ${name}`, [path, method, body], () => http.json<T>(path, init));
    }),
    close: () => http.close(),
  };
}

function namedRelational({ query, execute, transaction, close }: RelationalConnection): RelationalConnection {
  return { query: calledHere(query), execute: calledHere(execute), transaction: calledHere(transaction), close };
}

function namedGraph({ query, mutate, upsert, close }: GraphConnection): GraphConnection {
  return { query: calledHere(query), mutate: calledHere(mutate), upsert: calledHere(upsert), close };
}
