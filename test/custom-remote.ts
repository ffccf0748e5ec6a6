import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  buildSchema,
  type FieldNode,
  type GraphQLSchema,
  graphqlSync,
  isInterfaceType,
  isObjectType,
  Kind,
  parse,
} from 'graphql';
import { DEFAULT_LIMITS, defaultNames, dgraphNames, systemClock } from '../src/base/index.js';
import { createHttpClient } from '../src/outbound/index.js';
import { loadModel, type Model } from '../src/sdl/index.js';
import type { CustomFieldCall, CustomRootCall } from '../src/api/execute/custom-logic.js';
import type { RequestContext } from '../src/api/operation.js';
import { means } from '../src/api/schema/meaning.js';

export interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

/** A remote on a free port: what came in, and an answer that each test sets. */
export class Remote {
  readonly received: Received[] = [];
  answer: (request: Received) => { readonly status?: number; readonly json?: unknown; readonly text?: string } =
    () => ({
      json: null,
    });
  readonly #server: Server;
  readonly client = createHttpClient({ limits: DEFAULT_LIMITS, clock: systemClock });

  constructor() {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const { method = '', url = '', headers } = request;
        const received: Received = {
          method,
          url,
          headers,
          body: text === '' ? undefined : (JSON.parse(text) as unknown),
        };
        this.received.push(received);
        const { status = 200, json, text: plain } = this.answer(received);
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(plain ?? JSON.stringify(json));
      });
    });
  }

  async start(): Promise<void> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
  }

  get base(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    await this.client.close();
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }

  /** Answers GraphQL, introspection included, by a schema without resolvers of its own. */
  serve(sdl: string, root: Readonly<Record<string, unknown>> = {}): void {
    const schema = buildSchema(sdl);
    this.answer = ({ body }) => {
      const { query, variables } = body as { query: string; variables?: Record<string, unknown> };
      return { json: graphqlSync({ schema, source: query, rootValue: root, variableValues: variables }) };
    };
  }

  /** Definitions in which REMOTE stands for this remote's address, loaded. */
  load(sdl: string, dgraph = false): Loaded {
    const text = sdl.replaceAll('REMOTE', this.base);
    const model = loadModel(text, { names: dgraph ? dgraphNames : defaultNames });
    return { model, schema: schemaOf(text, model) };
  }
}

export interface Loaded {
  readonly model: Model;
  readonly schema: GraphQLSchema;
}

/** A schema with the meanings that the generated one has, for the types of a model alone. */
function schemaOf(text: string, model: Model): GraphQLSchema {
  const schema = buildSchema(`${text}\nscalar DateTime scalar Int64`, { assumeValidSDL: true, assumeValid: true });
  for (const type of model.objects) {
    const generated = schema.getType(type.name);
    if (!isObjectType(generated) && !isInterfaceType(generated)) continue;
    const fields = generated.getFields();
    for (const field of type.fields) {
      const definition = fields[field.name];
      if (definition) definition.extensions = means({ op: 'field', type, field });
    }
  }
  return schema;
}

export function context(headers: Record<string, string> = {}): RequestContext {
  return { requestId: 'r', headers, signal: new AbortController().signal, extensions: {} };
}

/** The call of one root field out of a client's text. */
export function rootCall(
  { model, schema }: Loaded,
  query: string,
  args: Record<string, unknown> = {},
  headers: Record<string, string> = {},
  variables: Record<string, unknown> = {},
): CustomRootCall {
  const scope = scopeOf({ model, schema }, query, headers, variables);
  const name = scope.fieldNodes[0].name.value;
  const field = [...model.queries, ...model.mutations].find((one) => one.name === name);
  if (!field) throw new Error(`no root field ${name}`);
  return { ...scope, field, args };
}

/** The call of `Type.field`; the text is its field with what is asked of it. */
export function fieldCall(
  { model, schema }: Loaded,
  typeName: string,
  query: string,
  parents: readonly Record<string, unknown>[],
): CustomFieldCall {
  const scope = scopeOf({ model, schema }, query, {}, {});
  const type = model.object(typeName);
  const field = type?.field(scope.fieldNodes[0].name.value);
  if (!type || !field) throw new Error(`no field for ${query}`);
  return { ...scope, type, field, parents };
}

function scopeOf(
  { model, schema }: Loaded,
  query: string,
  headers: Record<string, string>,
  variables: Record<string, unknown>,
): Omit<CustomRootCall, 'field' | 'args'> {
  const document = parse(query);
  const [operation] = document.definitions;
  if (operation.kind !== Kind.OPERATION_DEFINITION) throw new Error('an operation comes first');
  const fragments = Object.fromEntries(
    document.definitions.flatMap((one) => (one.kind === Kind.FRAGMENT_DEFINITION ? [[one.name.value, one]] : [])),
  );
  return {
    model,
    schema,
    fieldNodes: [operation.selectionSet.selections[0] as FieldNode],
    fragments,
    variables,
    context: context(headers),
    shared: {},
    reader: () => Promise.reject(new Error('no graph here')),
  };
}
