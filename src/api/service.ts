import { GraphQLError, type GraphQLSchema } from 'graphql';
import {
  asError,
  GraphsteadError,
  GraphsteadErrors,
  inSteps,
  type MaybePromise,
  noTrace,
  recovered,
} from '../base/index.js';
import { Pace, runQuery } from '../dql/index.js';
import { derivedSchema, hideSecrets, inOwnWords, isAbout, type Model, originsIn } from '../sdl/index.js';
import { AdminApi } from './admin/index.js';
import { asksForApi } from './asks-for-api.js';
import { atField } from './at-field.js';
import { isSameAuthorization, verifyClaims } from './authorize/index.js';
import type {
  Api,
  ApiOptions,
  ExecuteOptions,
  GraphqlAnswer,
  GraphqlRequest,
  SchemaUpdate,
  ServedSchema,
  StoredDefinitions,
  SubscriptionEvent,
  Remarks,
  Unreachable,
} from './contract.js';
import { checkDql, checkRemotes, createCustomLogic } from './custom/index.js';
import { runCustomDql } from './execute/custom-dql.js';
import type { CustomLogic } from './execute/custom-logic.js';
import { InvalidDocument, PersistedQueries } from './execute/document.js';
import { Executor, isLost, type Prepared, refused } from './execute/engine.js';
import { Turns } from './execute/mutate/turn.js';
import type { Request } from './execute/request.js';
import { LiveQueries } from './execute/live-query.js';
import { subscribeOperation } from './execute/subscribe.js';
import { answerProbe } from './gateway.js';
import type { Operation, RequestContext } from './operation.js';
import {
  generatedAlone,
  type LoadedSchema,
  loadSchema,
  type ReadSchema,
  readInSteps,
  type SchemaOptions,
  withOperations,
  withSecrets,
} from './served.js';
import { unguarded } from './unguarded.js';
import { misfits } from './misfits.js';
import { unreachable } from './unreachable.js';

/** Name of the graph's document that holds the type definitions. */
const DOCUMENT = 'graphql.schema';

/** Name of the one that holds their uid, made when it is first asked for. */
const ID_DOCUMENT = 'graphql.schema.id';

/** The GraphQL API over a graph. Call `load` before the first request. */
export function createApi(options: ApiOptions): Api {
  return new GraphqlApi(options);
}

class GraphqlApi implements Api {
  readonly #options: ApiOptions;
  readonly #custom: CustomLogic | undefined;
  readonly #persisted: PersistedQueries;
  readonly #admin: AdminApi;
  readonly #live: LiveQueries | undefined;
  readonly #turns = new Turns();
  #operations: readonly Operation[] = [];
  #served: LoadedSchema | undefined;
  #executor: Executor | undefined;
  /** what is stored: also what is refused */
  #stored: StoredDefinitions | undefined;
  /** mistakes of the stored schema */
  #broken: readonly GraphsteadError[] = [];
  /** the text that was read from the store last */
  #taken: string | undefined;
  #updating: Promise<unknown> = Promise.resolve();
  #serves = 0;

  constructor(options: ApiOptions) {
    this.#options = options;
    this.#persisted = new PersistedQueries(options.limits);
    this.#custom = options.custom ?? this.#customLogic();
    this.#admin = new AdminApi(this, options);
    this.#live = options.committer && new LiveQueries(options.committer);
  }

  #customLogic(): CustomLogic | undefined {
    const { client, limits, names } = this.#options;
    if (!client) return undefined;
    return createCustomLogic({
      client,
      limits,
      comparesTypes: !names.dgraph,
      runDql: (text, call) => runCustomDql(text, call, this.#options),
    });
  }

  async load(): Promise<readonly GraphsteadError[]> {
    return this.#take(await this.#options.graph.document(DOCUMENT));
  }

  async follow(): Promise<readonly GraphsteadError[]> {
    const text = await this.#options.graph.document(DOCUMENT);
    return text === this.#taken ? [] : this.#take(text);
  }

  #take(text: string | undefined): readonly GraphsteadError[] {
    this.#taken = text;
    this.#broken = [];
    // it may have been stored in the other mode, which reads both
    const read = text === undefined || this.#options.names.dgraph ? text : inOwnWords(text);
    this.#stored = definitionsOf(read);
    try {
      this.#serve(this.#load(read));
    } catch (error) {
      this.#broken = error instanceof GraphsteadErrors ? error.errors : [asError(error)];
      this.#serve(undefined);
    }
    return this.#broken;
  }

  #load(text: string | undefined): LoadedSchema | undefined {
    if (text !== undefined && text.trim() !== '') return loadSchema(text, this.#reading(text));
    return withOperations(undefined, this.#reading(''));
  }

  /** How a text is read at this moment. */
  #reading(text: string): SchemaOptions {
    const { names, variables } = this.#options;
    return { names, operations: this.#operations, ...(variables ? { variables: variables(text) } : {}) };
  }

  #serve(loaded: LoadedSchema | undefined): void {
    const { graph, names, clock, limits, committer, trace = noTrace } = this.#options;
    this.#serves++;
    this.#served = loaded;
    this.#executor =
      loaded &&
      new Executor(
        {
          schema: loaded.schema,
          model: loaded.model,
          graph,
          runQuery: trace.on ? (...given) => trace.step('run', {}, () => runQuery(...given)) : runQuery,
          names,
          clock,
          limits,
          turns: this.#turns,
          ...(this.#custom ? { custom: this.#custom } : {}),
          ...(committer ? { idempotentReply: committer.idempotentReply.bind(committer) } : {}),
        },
        this.#persisted,
      );
    this.#live?.redefined();
  }

  #ready(): Executor {
    if (this.#executor) return this.#executor;
    if (this.#broken.length > 0) throw this.#refusal();
    throw new GraphsteadError('INVALID_GRAPHQL', 'there is no GraphQL schema yet', {
      fix: 'Send type definitions to POST /admin/schema, or write schema.graphql or functions in the folder of an app.',
    });
  }

  #refusal(): GraphsteadError {
    const [{ message, position, fix }] = this.#broken;
    const place = position ? `line ${position.line}, column ${position.column}: ` : '';
    return new GraphsteadError('INVALID_SDL', `the stored GraphQL schema is refused: ${place}${message}`, {
      fix: `${fix ?? 'Correct it.'} Get the type definitions from GET /admin/schema, and send them corrected to POST /admin/schema.`,
    });
  }

  /** Not async: most requests are prepared at once, and each promise more is felt in what one costs. */
  execute(request: GraphqlRequest, context: RequestContext, options: ExecuteOptions = {}): Promise<GraphqlAnswer> {
    const recover = (error: unknown) => this.#recover(error, request, options);
    try {
      const executor = this.#ready();
      const preparing = this.#prepare(executor, request, context, options.transaction);
      const running =
        preparing instanceof Promise
          ? preparing.then((prepared) => this.#run(executor, prepared, options))
          : this.#run(executor, preparing, options);
      return running.catch(recover);
    } catch (error) {
      return recover(error);
    }
  }

  #run(executor: Executor, prepared: Prepared, { allowMutation = true }: ExecuteOptions): Promise<GraphqlAnswer> {
    const kind = prepared.request.operation.operation;
    if (kind === 'subscription') {
      throw new GraphsteadError('INVALID_GRAPHQL', 'a subscription needs a stream', {
        fix: 'Send it with Accept: text/event-stream.',
      });
    }
    this.#assertMethod(kind, allowMutation);
    return executor.run(prepared);
  }

  /** Errors of a document that an older client's probe would cause are answered as it expects. Rejects with TXN_ABORTED. */
  async #recover(error: unknown, request: GraphqlRequest, { transaction }: ExecuteOptions): Promise<GraphqlAnswer> {
    if (transaction && isLost(error)) throw error;
    const served = this.#served;
    const probed = error instanceof InvalidDocument && served && (await this.#probe(request, served));
    if (probed) return probed;
    // operations of an app alone are served: what misses the stored types beside them is to hear why they are not there
    if (!(error instanceof InvalidDocument) || this.#broken.length === 0) return refused(error);
    const { code, message, fix } = this.#refusal();
    return refused(new InvalidDocument([...error.errors, new GraphQLError(message, { extensions: { code, fix } })]));
  }

  async knows(request: GraphqlRequest, context: RequestContext): Promise<boolean> {
    try {
      const { operation, fragments } = (await this.#prepare(this.#ready(), request, context)).request;
      return operation.operation !== 'mutation' && !asksForApi(operation.selectionSet, fragments);
    } catch {
      return false;
    }
  }

  /** Clients of the peer send mutations with GET too. */
  #assertMethod(kind: string, allowMutation: boolean): void {
    if (kind !== 'mutation' || allowMutation || this.#options.names.dgraph) return;
    throw new GraphsteadError('METHOD_NOT_ALLOWED', 'a mutation cannot be sent with GET', { fix: 'Use POST.' });
  }

  #prepare(executor: Executor, ...given: Parameters<Executor['prepareInSteps']>): MaybePromise<Prepared> {
    const { trace = noTrace } = this.#options;
    if (!trace.on) return executor.prepareInSteps(...given);
    const [startedAt, from] = [Date.now(), performance.now()];
    const ended = (prepared: Prepared): Prepared => {
      trace.ended('parse', { startedAt, ms: performance.now() - from });
      return prepared;
    };
    const preparing = executor.prepareInSteps(...given);
    return preparing instanceof Promise ? preparing.then(ended) : ended(preparing as Prepared);
  }

  async #probe(request: GraphqlRequest, { schema, generated }: LoadedSchema): Promise<GraphqlAnswer | undefined> {
    if (schema.getQueryType()?.getFields()._service) return undefined;
    return await answerProbe(request, () => generated.serviceSdl).catch(() => undefined);
  }

  subscribe(
    request: GraphqlRequest,
    context: RequestContext,
    { allowMutation = true }: Pick<ExecuteOptions, 'allowMutation'> = {},
  ): AsyncIterable<readonly SubscriptionEvent[]> {
    const open = () => {
      const executor = this.#ready();
      const prepared = executor.prepare(request, context);
      const kind = prepared.request.operation.operation;
      this.#assertMethod(kind, allowMutation);
      if (kind === 'subscription') {
        return subscribeOperation(prepared.request, this.#live, (asked) => this.#renew(asked, request));
      }
      return once(async () => [{ body: (await executor.run(prepared)).body }]);
    };
    return recovered(open, (error) => [{ body: refused(error).body }]);
  }

  /** What an open subscription asks, under the definitions that are served now. Its token counts as long as they verify it alike. */
  #renew(asked: Request, given: GraphqlRequest): Request {
    const executor = this.#ready();
    const { engine, context } = asked;
    if (executor.engine === engine) return asked;
    if (!isSameAuthorization(executor.engine.model.authorization, engine.model.authorization)) {
      throw new GraphsteadError('UNAUTHENTICATED', 'the type definitions verify tokens in another way now', {
        fix: 'Subscribe again.',
      });
    }
    return executor.prepare(given, context).request;
  }

  admin(request: GraphqlRequest, _context: RequestContext, options: ExecuteOptions = {}): Promise<GraphqlAnswer> {
    return this.#admin.execute(request, options);
  }

  claims(headers: Readonly<Record<string, string | undefined>>) {
    const { clock, limits, client } = this.#options;
    return this.#served ? verifyClaims(this.#served.model, headers, clock, limits, client) : undefined;
  }

  async validate(text: string): Promise<readonly GraphsteadError[]> {
    try {
      const { model } = await this.#check(text);
      await this.#fit(model);
      return [];
    } catch (error) {
      return error instanceof GraphsteadErrors ? error.errors : [asError(error)];
    }
  }

  /** Throws what the stored data refuses of the definitions, as their upload would. */
  async #fit(model: Model): Promise<void> {
    try {
      await this.#options.graph.checkAlter({ kind: 'schema', text: this.#derived(model) });
    } catch (error) {
      throw atField(error, model);
    }
  }

  /** The graph's schema that definitions need. Natively what was declared beside those before them stays. */
  #derived(model: Model): string {
    const { graph, names } = this.#options;
    return derivedSchema(
      model,
      names,
      names.dgraph ? undefined : { schema: graph.schema(), before: this.#served?.model },
    );
  }

  /** Others have their turn meanwhile. */
  #read(text: string): Promise<ReadSchema> {
    const pace = new Pace(this.#options);
    return inSteps(readInSteps(text, this.#reading(text)), () => pace.pause());
  }

  async #check(text: string): Promise<LoadedSchema> {
    const { names, limits, client } = this.#options;
    if (text.trim() === '') throw nothingGiven();
    const { loaded, model, errors, left } = await this.#read(text);
    const mismatches = client && model ? await checkRemotes(model, client, names) : [];
    const unreadable = model ? checkDql(model, { names, limits }) : [];
    const told = [...errors, ...unreadable, ...mismatches.filter(({ message }) => !isAbout(message, left))];
    if (!loaded || told.length > 0) throw new GraphsteadErrors(told);
    return loaded;
  }

  async remarks(text: string): Promise<Remarks> {
    const { loaded } = await this.#read(text);
    return loaded ? await this.#remarks(loaded.model) : { unreachable: [], unguarded: [] };
  }

  async misfits(): Promise<readonly Unreachable[]> {
    return this.#served ? misfits(this.#served.model, this.#options.graph) : [];
  }

  async #remarks(after: Model): Promise<Remarks> {
    const before = this.#served?.model;
    const lost = before ? await unreachable(before, after, this.#options.graph) : [];
    return { unreachable: lost, unguarded: unguarded(after, this.#options) };
  }

  updateSchema(text: string): Promise<SchemaUpdate> {
    const update = this.#updating.then(() => this.#update(text));
    this.#updating = update.catch(() => undefined);
    return update;
  }

  async #update(text: string): Promise<SchemaUpdate> {
    const { graph } = this.#options;
    const serves = this.#serves;
    const loaded = await this.#check(text);
    const remarks = await this.#remarks(loaded.model);
    const document = { name: DOCUMENT, text };
    try {
      // predicates and definitions are one commit: no failure leaves the one without the other
      await graph.alter({ kind: 'schema', text: this.#derived(loaded.model), document });
    } catch (error) {
      // the commit may have landed, and an index that could not be built is what failed
      if ((await graph.document(DOCUMENT)) === text) this.#adopt(loaded, serves);
      throw atField(error, loaded.model);
    }
    return { served: this.#adopt(loaded, serves).info, ...remarks };
  }

  /** @param serves before the definitions were read: what came since then, of operations and secrets, counts beside them */
  #adopt(loaded: LoadedSchema, serves: number): LoadedSchema {
    const { text } = loaded.model;
    this.#stored = definitionsOf(text);
    const now = serves === this.#serves ? loaded : loadSchema(text, this.#reading(text));
    this.#broken = [];
    this.#serve(now);
    return now;
  }

  current(): ServedSchema | undefined {
    return this.#served?.info;
  }

  stored(): StoredDefinitions | undefined {
    return this.#stored;
  }

  mistakes(): readonly GraphsteadError[] {
    return this.#broken;
  }

  schemaUpdates(): number {
    return this.#serves;
  }

  schemaId(): Promise<string> {
    const id = this.#updating.then(() => this.#schemaId());
    this.#updating = id.catch(() => undefined);
    return id;
  }

  async #schemaId(): Promise<string> {
    const { graph } = this.#options;
    const kept = await graph.document(ID_DOCUMENT);
    if (kept !== undefined) return kept;
    const id = `0x${(await graph.leaseUids(1)).toString(16)}`;
    await graph.setDocument(ID_DOCUMENT, id);
    return id;
  }

  generatedAlone(text: string): string | undefined {
    return generatedAlone(text, this.#options.names);
  }

  operations(): readonly Operation[] {
    return this.#operations;
  }

  schema(): GraphQLSchema | undefined {
    return this.#served?.schema;
  }

  setOperations(operations: readonly Operation[]): void {
    const before = this.#operations;
    this.#operations = operations;
    try {
      this.#serve(withOperations(this.#served, this.#reading('')));
    } catch (error) {
      this.#operations = before;
      throw error;
    }
  }

  renewSecrets(): void {
    const served = this.#served;
    // without a placeholder there is nothing to read
    if (served?.model.text.includes('{{')) this.#serve(withSecrets(served, this.#reading(served.model.text)));
  }

  async dropped(): Promise<void> {
    await this.#updating;
    await this.load();
  }

  async close(): Promise<void> {
    await this.#updating;
  }
}

function definitionsOf(text = ''): StoredDefinitions | undefined {
  if (text.trim() === '') return undefined;
  return {
    text,
    get shown() {
      return hideSecrets(text);
    },
    allowedOrigins: originsIn(text),
  };
}

/** An upload that lost its body must not take the API away. */
function nothingGiven(): GraphsteadError {
  return new GraphsteadError('INVALID_SDL', 'there are no type definitions in it', {
    fix: 'Send the types. What is served goes with {"drop_all": true} to /alter, and the data with it.',
    position: { line: 1, column: 1 },
  });
}

async function* once<T>(make: () => Promise<T>): AsyncIterable<T> {
  yield await make();
}
