import { type GraphQLObjectType, Kind, type OperationDefinitionNode } from 'graphql';
import {
  assert,
  atOnce,
  GraphsteadError,
  inSteps,
  internal,
  type JsonWriter,
  type MaybePromise,
  type Steps,
} from '../../base/index.js';
import { NotingReader, Pace } from '../../dql/index.js';
import { type GraphReader, LoggedReader, type Transaction } from '../../graph/index.js';
import { rootMeaning } from '../schema/meaning.js';
import { type CollectScope, collectFields } from './collect.js';
import { entitiesField } from './entities.js';
import { beginAnswer, endAnswer } from './envelope.js';
import { type Introspected, introspectionField } from './introspect.js';
import { addField } from './mutate/add.js';
import { deleteField } from './mutate/delete.js';
import { updateField } from './mutate/update.js';
import { customField, nothing, operationField, serviceField } from './outside.js';
import { aggregateField, getField, passwordField, queryField } from './query.js';
import type { Request, RootField, Written } from './request.js';
import { similarField } from './similar.js';

type Definition = ReturnType<GraphQLObjectType['getFields']>[string];

/** A snapshot (or the caller's transaction) that is opened when the first field needs it, and released with the request. */
export class LazyReader {
  #own: Transaction | undefined;
  #reader: Promise<GraphReader> | undefined;
  readonly #request: Request;

  constructor(request: Request) {
    this.#request = request;
  }

  readonly open = (): Promise<GraphReader> => {
    this.#reader ??= this.#begin();
    return this.#reader;
  };

  async #begin(): Promise<GraphReader> {
    const { engine, transaction, reads } = this.#request;
    if (transaction) return new NotingReader(await transaction.reader());
    this.#own = await engine.graph.begin({ readOnly: true, bestEffort: true });
    const reader = await this.#own.reader();
    return reads ? new LoggedReader(reader, reads.watch) : reader;
  }

  async release(): Promise<void> {
    if (!this.#reader) return;
    const reader = await this.#reader.catch(() => undefined);
    if (reader instanceof NotingReader) this.#request.transaction?.noteRead(reader.keys);
    reader?.release();
    this.#own?.abort();
  }
}

/** Executes a query or a mutation: its whole answer, with the errors that the request gathered. */
export function executeOperation(request: Request, introspected: Introspected): Promise<Buffer> {
  const { engine, operation, fragments, variables } = request;
  const isMutation = operation.operation === 'mutation';
  const root = isMutation ? engine.schema.getMutationType() : engine.schema.getQueryType();
  assert(root, `the schema has a ${operation.operation} type`);
  const fields = rootFields({ schema: engine.schema, fragments, variables }, root, operation);
  return isMutation ? mutation(request, root, fields) : query(request, root, fields, introspected);
}

const plain = new WeakMap<OperationDefinitionNode, readonly RootField[]>();

/** Looked up once where no directive and no fragment could make them others. */
function rootFields(
  scope: CollectScope,
  root: GraphQLObjectType,
  operation: OperationDefinitionNode,
): readonly RootField[] {
  const known = plain.get(operation);
  if (known) return known;
  const { selectionSet } = operation;
  const fields = [...collectFields(scope, root, [selectionSet])].map(([key, nodes]): RootField => ({ key, nodes }));
  const isPlain = selectionSet.selections.every((node) => node.kind === Kind.FIELD && !node.directives?.length);
  if (isPlain) plain.set(operation, fields);
  return fields;
}

async function query(
  request: Request,
  root: GraphQLObjectType,
  fields: readonly RootField[],
  introspected: Introspected,
): Promise<Buffer> {
  const reader = new LazyReader(request);
  try {
    const part = (field: RootField) => queryPart(request, root, field, reader, introspected);
    const parts =
      fields.length > LANES
        ? await inLanes(request, root, fields, part)
        : await Promise.all(fields.map((field) => guarded(request, root, field, () => part(field))));
    const body = answerOf(request, fields, parts);
    return body instanceof Promise ? await body : body;
  } finally {
    await reader.release();
  }
}

/** Root fields that are answered at the same time; the next ones only then, so that others have their turn. */
const LANES = 64;

async function inLanes(
  request: Request,
  root: GraphQLObjectType,
  fields: readonly RootField[],
  part: (field: RootField) => Promise<Written>,
): Promise<Written[]> {
  const pace = new Pace(request.run);
  const parts = new Array<Written>(fields.length);
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < fields.length) {
      const at = next++;
      parts[at] = await guarded(request, root, fields[at], async () => {
        await pace.pause();
        return await part(fields[at]);
      });
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return parts;
}

/** What a root field gives; a failure is noted and is null. */
async function guarded(
  request: Request,
  root: GraphQLObjectType,
  field: RootField,
  run: () => Promise<Written>,
): Promise<Written> {
  try {
    return await run();
  } catch (error) {
    request.errors.thrown(field.nodes, [field.key], error);
    return failed(request, root, field);
  }
}

function failed(request: Request, root: GraphQLObjectType, field: RootField): Written {
  const type = root.getFields()[field.nodes[0].name.value]?.type;
  const json = type && nothing(request, type);
  return {
    write: (out) => {
      if (json !== undefined) out.ascii(json);
      return json !== undefined;
    },
  };
}

function constant(value: unknown): Written {
  return {
    write: (out) => {
      out.raw(JSON.stringify(value));
      return true;
    },
  };
}

export async function queryPart(
  request: Request,
  root: GraphQLObjectType,
  asked: RootField,
  reader: LazyReader,
  introspected: Introspected,
): Promise<Written> {
  const name = asked.nodes[0].name.value;
  if (name === '__typename') return constant(root.name);
  if (name === '__schema' || name === '__type') return await introspectionField(request, asked, introspected);
  const definition = root.getFields()[name];
  demandClaims(request, definition);
  const meaning = rootMeaning(definition);
  assert(meaning, `${name} has a meaning`);
  const { key, nodes } = asked;
  const field = { key, nodes, definition };
  switch (meaning.op) {
    case 'get':
      return await getField(request, field, meaning, await reader.open());
    case 'query':
      return await queryField(request, field, meaning, await reader.open());
    case 'aggregate':
      return await aggregateField(request, field, meaning, await reader.open());
    case 'checkPassword':
      return await passwordField(request, field, meaning, await reader.open());
    case 'similarById':
    case 'similarByEmbedding':
      return await similarField(request, field, meaning, await reader.open());
    case 'entities':
      return await entitiesField(request, field, await reader.open());
    case 'service':
      return serviceField(request, field);
    case 'custom':
      return await customField(request, field, meaning, reader.open);
    case 'operation':
      return await operationField(request, field, meaning);
    default:
      throw internal(`${meaning.op} is no query`);
  }
}

/** With ClosedByDefault, whoever shows no token sees nothing. Throws UNAUTHENTICATED. */
export function demandClaims(request: Request, definition: Definition): void {
  const { engine, context } = request;
  if (!engine.model.authorization?.closedByDefault || context.claims || context.trusted) return;
  const meaning = rootMeaning(definition);
  if (meaning?.op === 'service') return;
  throw new GraphsteadError('UNAUTHENTICATED', 'a valid JWT is required but was not provided', {
    fix: `Send one in the header ${engine.model.authorization.header}.`,
  });
}

/** In order, one at a time; after a failure the others are not executed. */
async function mutation(request: Request, root: GraphQLObjectType, fields: readonly RootField[]): Promise<Buffer> {
  const parts: Written[] = [];
  let stopped = false;
  for (const field of fields) {
    if (stopped) {
      request.errors.at(
        field.nodes,
        [field.key],
        new GraphsteadError('NOT_EXECUTED', `Mutation ${field.key} was not executed because of a previous error.`, {
          fix: 'Correct the mutation that failed before it, and send it again from there on.',
        }),
      );
      parts.push(failed(request, root, field));
      continue;
    }
    try {
      const part = await mutationPart(request, root, field);
      stopped = part.failed !== undefined;
      part.failed?.();
      parts.push(part);
    } catch (error) {
      stopped = true;
      request.errors.thrown(field.nodes, [field.key], error);
      parts.push(failed(request, root, field));
    }
  }
  return answerOf(request, fields, parts);
}

/** May throw at once: not async, since a promise that resolves with a promise takes longer. */
function mutationPart(request: Request, root: GraphQLObjectType, asked: RootField): MaybePromise<Written> {
  const name = asked.nodes[0].name.value;
  if (name === '__typename') return constant(root.name);
  const definition = root.getFields()[name];
  demandClaims(request, definition);
  const meaning = rootMeaning(definition);
  assert(meaning, `${name} has a meaning`);
  const { key, nodes } = asked;
  const field = { key, nodes, definition };
  switch (meaning.op) {
    case 'add':
      return addField(request, field, meaning.type);
    case 'update':
      return updateField(request, field, meaning.type);
    case 'delete':
      return deleteField(request, field, meaning.type);
    case 'custom': {
      const reader = new LazyReader(request);
      return customField(request, field, meaning, reader.open).finally(() => reader.release());
    }
    case 'operation':
      return operationField(request, field, meaning);
    default:
      throw internal(`${meaning.op} is no mutation`);
  }
}

/** Few parts are written in one go: a writer that waits for something keeps its buffer from the next one. */
function answerOf(request: Request, fields: readonly RootField[], parts: readonly Written[]): MaybePromise<Buffer> {
  const out = beginAnswer(request);
  const writing = dataInSteps(out, fields, parts);
  if (fields.length > LANES) {
    const pace = new Pace(request.run);
    return inSteps(writing, () => pace.pause()).then(() => endAnswer(request, out));
  }
  atOnce(writing);
  return endAnswer(request, out);
}

function* dataInSteps(out: JsonWriter, fields: readonly RootField[], parts: readonly Written[]): Steps<void> {
  const start = out.length;
  out.byte(0x7b);
  for (let i = 0; i < fields.length; i++) {
    if (i > 0) {
      yield;
      out.byte(0x2c);
    }
    out.string(fields[i].key);
    out.byte(0x3a);
    if (parts[i].write(out)) continue;
    out.truncate(start);
    out.ascii('null');
    return;
  }
  out.byte(0x7d);
}
