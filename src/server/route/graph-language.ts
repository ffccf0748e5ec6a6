import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  atOnce,
  Yielder,
  GraphsteadError,
  inSteps,
  type MaybePromise,
  parseJson,
  type Steps,
} from '../../base/index.js';
import type { Latency, MutateAnswer, QueryAnswer, TransactionInfo } from '../../dql/index.js';
import type { AlterRequest } from '../../graph/index.js';
import { LARGE_ANSWERS } from '../answers.js';
import { bodyText, hasMoreTexts, mediaType, parseJsonObject, type Sent } from '../body.js';
import type { Core } from '../core.js';
import { asItIs, success, TEXT_BYTES } from '../envelope.js';
import { bodyHash, mutationClaim } from '../idempotency.js';
import { flag, knownParameters, type Queried, startTimestamp, text, timeoutMs } from '../parameter.js';
import type { Answering } from '../signal.js';
import { forward, isOfOtherTransaction } from './forwarded.js';

/** tokens that declare a variable: its name, a colon, its type */
const TOKENS_A_VARIABLE = 3;
/** new nodes that are named in one step */
const NAMED = 1_024;
/** texts in the JSON of a query beside those of its variables: names of members, the query itself */
const OTHER_TEXTS = 8;

/** The parameters of each path. */
const PARAMETERS = {
  query: ['startTs', 'hash', 'ro', 'be', 'timeout', 'debug', 'respFormat'],
  mutate: ['commitNow', 'startTs', 'hash', 'timeout'],
  commit: ['startTs', 'hash', 'abort'],
  alter: ['runInBackground'],
} as const;
const QUERY_TYPES = new Set(['application/dql', 'application/graphql+-', 'application/graphqlpm', 'text/plain', '']);

/** POST /query, /mutate, /commit, /alter: the graph language over HTTP. */
export function graphLanguageRoutes(app: FastifyInstance, core: Core): void {
  const options = { bodyLimit: core.limits.graphBodyBytes, config: LARGE_ANSWERS };
  for (const [path, work] of Object.entries(GRAPH_LANGUAGE)) {
    app.post(path, options, async (request, reply) => {
      let answer: Parts;
      try {
        answer = await work(core, request, reply.raw, core.keys.nameOf(request.headers));
      } catch (thrown) {
        if (core.forwarder === undefined || !isOfOtherTransaction(request, thrown)) throw thrown;
        return forward(core.forwarder, request, reply);
      }
      return sendJson(core, reply, answer);
    });
  }
  app.post('/alter', options, async (request, reply) => sendJson(core, reply, await alter(core, request)));
}

/** A request of the graph language, by whichever way it came. */
interface Asked extends Sent, Queried {
  readonly url: string;
}

/** JSON in pieces. */
type Parts = readonly (string | Buffer)[];

/** @param key stands for the API key that the request shows; it may have none */
type Work = (core: Core, request: Asked, answering: Answering, key: string | undefined) => Promise<Parts>;

/** What the paths answer that are asked often. */
export const GRAPH_LANGUAGE: Readonly<Record<string, Work>> = { '/query': query, '/mutate': mutate, '/commit': commit };

/** Who holds a transaction open. A key that does not count would make one client as many as he likes. */
function clientOf(answering: Answering, key: string | undefined): string | undefined {
  return key ?? answering.socket?.remoteAddress;
}

async function query(core: Core, request: Asked, answering: Answering, key: string | undefined): Promise<Parts> {
  const parameters = knownParameters(request, core.names, PARAMETERS.query);
  const { text: queryText, variables } = queryBody(core, request);
  const format = text(parameters, 'respFormat') ?? 'json';
  if (format !== 'json' && format !== 'rdf') {
    throw new GraphsteadError('INVALID_REQUEST', `respFormat is "${format}"`, {
      fix: 'use respFormat=json or respFormat=rdf',
    });
  }
  const readOnly = flag(parameters, 'ro');
  const bestEffort = flag(parameters, 'be');
  // it would only read all the same, and writes under its timestamp would fail later
  if (bestEffort && !readOnly && parameters['ro'] !== undefined) {
    throw new GraphsteadError('INVALID_REQUEST', 'be=true with ro=false: a best-effort query only reads', {
      fix: 'leave one of them out',
    });
  }
  const answer = await core.dql.query({
    text: queryText,
    variables,
    startTs: startTimestamp(parameters),
    hash: text(parameters, 'hash'),
    client: clientOf(answering, key),
    readOnly,
    bestEffort,
    timeoutMs: timeoutMs(parameters),
    debug: flag(parameters, 'debug'),
    format,
    signal: core.goneOf(answering),
  });
  const data = format === 'rdf' ? await inSlices(core, quoted(answer.data)) : [answer.data];
  const writing = queryExtensions(core, answer);
  const told = writing instanceof Promise ? await writing : writing;
  return [`{"data":`, ...data, `,"extensions":`, ...told, '}'];
}

function queryBody({ limits }: Core, request: Asked): { text: string; variables?: Record<string, string> } {
  const type = mediaType(request);
  const body = bodyText(request);
  if (QUERY_TYPES.has(type)) {
    const header = request.headers['x-dgraph-vars'];
    return {
      text: body,
      ...(typeof header === 'string' ? { variables: stringVariables(parseJsonObject(header, 'X-Dgraph-Vars')) } : {}),
    };
  }
  if (type !== 'application/json') {
    throw new GraphsteadError('UNSUPPORTED_MEDIA_TYPE', `a query cannot be sent as ${type}`, {
      fix: 'use Content-Type: application/dql with the query, or application/json with {"query": ..., "variables": ...}',
    });
  }
  checkVariableCount(body, Math.floor(limits.syntaxTokens / TOKENS_A_VARIABLE));
  const json = parseJsonObject(body, 'the body');
  if (typeof json['query'] !== 'string') {
    throw new GraphsteadError('INVALID_REQUEST', 'the JSON body has no "query" text', {
      fix: 'send {"query": "{ ... }"}',
    });
  }
  return { text: json['query'], variables: stringVariables(json['variables'] ?? {}) };
}

/** Looked at before they are objects: a million of them held everybody for half a minute. Throws LIMIT_EXCEEDED. */
function checkVariableCount(body: string, most: number): void {
  if (!hasMoreTexts(body, 2 * most + OTHER_TEXTS)) return;
  throw new GraphsteadError(
    'LIMIT_EXCEEDED',
    `the request brings more than ${most} variables, as many as a query of limits.syntaxTokens can declare`,
    { fix: 'send a list in one variable, and only those that the query declares' },
  );
}

function stringVariables(value: unknown): Record<string, string> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const given = Array.isArray(value) ? 'a list' : `a ${typeof value}`;
    throw new GraphsteadError('INVALID_REQUEST', `"variables" is ${given}, not an object`, {
      fix: 'send the variables by their names: {"query": "query q($a: string) { ... }", "variables": {"$a": "Ann"}}',
    });
  }
  const entries = Object.entries(value);
  for (const [name, variable] of entries) {
    if (typeof variable !== 'string') {
      throw new GraphsteadError('INVALID_REQUEST', `the variable ${name} is not a text`, {
        fix: `send every variable as a string: {"${name}": ${JSON.stringify(String(variable))}}`,
      });
    }
  }
  return Object.fromEntries(entries) as Record<string, string>;
}

async function mutate(core: Core, request: Asked, answering: Answering, key: string | undefined): Promise<Parts> {
  const parameters = knownParameters(request, core.names, PARAMETERS.mutate);
  const body = bodyText(request);
  const commitNow = flag(parameters, 'commitNow') || request.headers['x-dgraph-commitnow'] === 'true';
  const claim = mutationClaim(request.headers, () => bodyHash(request.url, body));
  if (claim && !commitNow) throw keyWithoutCommit();
  const stored = async () => claim && (await core.committer.idempotentCommit(claim.scope, claim.key, claim.bodyHash));
  const first = await stored();
  if (first) return withCommit(first.reply, first.commitTs);
  const asked = core.dql.mutate({
    body,
    contentType: mutationType(request),
    commitNow,
    startTs: startTimestamp(parameters),
    hash: text(parameters, 'hash'),
    client: clientOf(answering, key),
    timeoutMs: timeoutMs(parameters),
    signal: core.goneOf(answering),
    idempotency: claim,
    reply: async (made) => joined(core, await mutateEnvelope(core, made)),
  });
  try {
    const answer = await asked;
    return answer.kept ? withCommit(answer.kept, answer.txn.commitTs) : mutateEnvelope(core, answer);
  } catch (thrown) {
    // what it ran into may be the same request, which has landed since the look above
    const landed = await stored();
    if (landed) return withCommit(landed.reply, landed.commitTs);
    throw thrown;
  }
}

/** What stands before the commit's timestamp in an answer; within a text its quotes would be escaped. */
const TRANSACTION = '"txn":{';

/** The answer as it is kept, with what was not known when it was made: the same the first time and all others. */
function withCommit(kept: Uint8Array, commitTs: number | undefined): Parts {
  const answer = Buffer.from(kept.buffer, kept.byteOffset, kept.byteLength);
  const at = answer.lastIndexOf(TRANSACTION) + TRANSACTION.length;
  return [answer.subarray(0, at), `"commit_ts":${commitTs},`, answer.subarray(at)];
}

/** The key is kept by the commit alone: what is repeated before it would be there twice. */
function keyWithoutCommit(): GraphsteadError {
  return new GraphsteadError('INVALID_REQUEST', 'an Idempotency-Key with a mutation that does not commit', {
    fix: 'send it with commitNow=true; a transaction of several requests is begun anew where one of them got no answer',
  });
}

function mutationType(request: Asked): 'rdf' | 'json' {
  if (request.headers['x-dgraph-mutationtype'] === 'json') return 'json';
  const type = mediaType(request);
  if (type === 'application/rdf' || type === 'application/n-quads' || type === '') return 'rdf';
  if (type === 'application/json') return 'json';
  throw new GraphsteadError('UNSUPPORTED_MEDIA_TYPE', `a mutation cannot be sent as ${type}`, {
    fix: 'use Content-Type: application/rdf or application/json',
  });
}

/** Query results stand directly under `data`; under `data.queries` with `--compat dgraph`. */
async function mutateEnvelope(core: Core, { queries, uids, latency, txn }: MutateAnswer): Promise<Parts> {
  const status = `"code":"Success","message":"Done"`;
  const inner = queries?.subarray(1, queries.length - 1) ?? Buffer.alloc(0);
  const head: Parts = core.names.dgraph
    ? [`{"data":{${status},"queries":`, queries ?? 'null', ',"uids":']
    : [`{"data":{`, inner, `${inner.length > 0 ? ',' : ''}${status},"uids":`];
  const names = uids.size <= NAMED ? atOnce(uidsJson(uids)) : await inSlices(core, uidsJson(uids));
  return [...head, ...names, `},"extensions":`, ...(await extensions(core, latency, txn)), '}'];
}

/** What may be long, with pauses. */
function inSlices<T>({ limits }: Core, writing: Steps<T>): Promise<T> {
  const yielder = new Yielder(limits.yieldMs);
  return inSteps(writing, () => yielder.due());
}

/** Bytes that are quoted in one step, as long as lines allow. */
const QUOTED = 64 * 1024;
const NEWLINE = 0x0a;

/** Lines of UTF-8 as one text of JSON. */
function* quoted(lines: Buffer): Steps<Parts> {
  const parts: Parts[number][] = ['"'];
  for (let start = 0; start < lines.length; yield) {
    const newline = lines.indexOf(NEWLINE, start + QUOTED);
    const end = newline < 0 ? lines.length : newline + 1;
    parts.push(Buffer.from(JSON.stringify(lines.toString('utf8', start, end)).slice(1, -1)));
    start = end;
  }
  return [...parts, '"'];
}

/** New nodes by their names, as one object. */
function* uidsJson(uids: ReadonlyMap<string, string>): Steps<Parts> {
  const parts: Buffer[] = [];
  let text = '{';
  let count = 0;
  for (const [name, uid] of uids) {
    if (count > 0) text += ',';
    text += `${JSON.stringify(name)}:"${uid}"`;
    if (++count % NAMED > 0) continue;
    parts.push(Buffer.from(text));
    text = '';
    yield;
  }
  return [...parts, `${text}}`];
}

async function commit(core: Core, request: Asked): Promise<Parts> {
  const parameters = knownParameters(request, core.names, PARAMETERS.commit);
  const startTs = startTimestamp(parameters);
  if (startTs === undefined) {
    throw new GraphsteadError('INVALID_REQUEST', 'the parameter startTs is missing', {
      fix: 'send the start_ts that the transaction was answered with: /commit?startTs=...',
    });
  }
  checkCommitBody(bodyText(request));
  const hash = text(parameters, 'hash');
  const info = flag(parameters, 'abort') ? await core.dql.abort(startTs, hash) : await core.dql.commit(startTs, hash);
  return [success({ txn: transactionJson(info) })];
}

/**
 * Clients of the peer send the keys and predicates that mutations answered: `{"keys": [...], "preds": [...]}`, or the list of keys alone.
 * The transaction is kept here, with all that it changed, so that nothing is taken from them; but a body that was cut or meant for
 * another path must not commit. Throws SYNTAX, INVALID_REQUEST.
 */
function checkCommitBody(body: string): void {
  const start = body.trimStart();
  if (start === '' || (start.startsWith('[') && isTexts(parseJson(body)?.value))) return;
  const json = parseJsonObject(body, 'the body of /commit');
  for (const name of ['keys', 'preds']) {
    if (isTexts(json[name] ?? [])) continue;
    throw new GraphsteadError('INVALID_REQUEST', `"${name}" in the body of /commit is not a list of texts`, {
      fix: 'send the keys and preds that the mutations were answered with, or no body',
    });
  }
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

async function alter(core: Core, request: FastifyRequest): Promise<Parts> {
  const parameters = knownParameters(request, core.names, PARAMETERS.alter);
  const body = bodyText(request);
  const runInBackground = flag(parameters, 'runInBackground');
  await core.alter(alterRequest(body), { runInBackground });
  return [success()];
}

/** Schema lines, or a JSON object with drop_all, drop_attr, drop_op or schema. */
function alterRequest(body: string): AlterRequest {
  if (!body.trimStart().startsWith('{')) return { kind: 'schema', text: schemaLines(body) };
  const json = parseJsonObject(body, 'the body of /alter');
  const op = dropOp(json['drop_op']);
  if (json['drop_all'] === true && op === 'DATA') {
    throw new GraphsteadError('INVALID_REQUEST', 'Only one of DropAll and DropData can be true', {
      fix: 'send one of them',
    });
  }
  const { drop_all, drop_attr, schema } = json;
  assertOneThing({ drop_all, drop_attr, drop_op: op, schema });
  if (op === 'ALL' || op === 'DATA') noDropValue(op, json['drop_value']);
  if (json['drop_all'] === true || op === 'ALL') return { kind: 'dropAll' };
  if (op === 'DATA') return { kind: 'dropData' };
  if (op === 'TYPE') return { kind: 'dropType', name: dropValue(json['drop_value']) };
  if (op === 'ATTR') return { kind: 'dropAttr', name: dropValue(json['drop_value']) };
  if (typeof json['drop_attr'] === 'string') return { kind: 'dropAttr', name: dropValue(json['drop_attr']) };
  if (typeof json['schema'] === 'string') return { kind: 'schema', text: schemaLines(json['schema']) };
  throw new GraphsteadError('INVALID_REQUEST', 'the body of /alter asks for nothing that is known', {
    fix: 'send schema lines, or {"drop_all": true}, {"drop_attr": "name"}, {"drop_op": "DATA"}, {"drop_op": "TYPE", "drop_value": "T"}',
  });
}

/** Whoever names one thing beside another means neither all nor half of it. Throws INVALID_REQUEST. */
export function assertOneThing(asked: Readonly<Record<string, unknown>>): void {
  const names = Object.keys(asked).filter((name) => asked[name]);
  if (names.length < 2) return;
  throw new GraphsteadError('INVALID_REQUEST', `one request to alter asks for ${names.join(' and ')}`, {
    fix: 'send each in a request of its own',
  });
}

const DROP_OPS: ReadonlySet<unknown> = new Set(['ALL', 'DATA', 'ATTR', 'TYPE']);

/** What `drop_op` says, in capitals; undefined for nothing. Throws INVALID_REQUEST: it must not be passed over where something else is dropped. */
function dropOp(given: unknown): string | undefined {
  if (given === undefined || given === null || given === '') return undefined;
  const op = typeof given === 'string' ? given.toUpperCase() : given;
  if (op === 'NONE') return undefined;
  if (DROP_OPS.has(op)) return op as string;
  throw new GraphsteadError('INVALID_REQUEST', `there is no drop_op ${JSON.stringify(given)}`, {
    fix: 'use ALL, DATA, ATTR or TYPE',
  });
}

/** A body that was lost on its way must not be told as done. */
export function schemaLines(text: string): string {
  if (text.trim() !== '') return text;
  throw new GraphsteadError('INVALID_REQUEST', 'an empty request: there is nothing to alter in it', {
    fix: 'send schema lines, or what to drop',
  });
}

/** The name of what is dropped. */
export function dropValue(value: unknown): string {
  if (typeof value === 'string' && value.trim() !== '') return value;
  throw new GraphsteadError('INVALID_REQUEST', 'DropValue must not be empty', {
    fix: 'name what to drop: "drop_value": "..."',
  });
}

/** Whoever names one thing does not mean everything. */
export function noDropValue(op: 'ALL' | 'DATA', value: unknown): void {
  if (value === undefined || value === null || value === '') return;
  throw new GraphsteadError('INVALID_REQUEST', `If DropOp is set to ${op}, DropValue must be empty`, {
    fix: 'name what to drop with "drop_op": "ATTR" or "TYPE", or leave "drop_value" out to drop everything',
  });
}

function queryExtensions(core: Core, answer: QueryAnswer): MaybePromise<Parts> {
  const { latency, txn, metrics, keysRead, unknown } = answer;
  // the peer has no word for it
  const told = unknown.length > 0 && !core.names.dgraph ? { unknown } : {};
  return extensions(core, latency, txn, { metrics: { num_uids: metrics, keys_read: keysRead }, ...told });
}

/** An open transaction may have a million keys. @param more other members */
function extensions(core: Core, latency: Latency, txn: TransactionInfo, more = {}): MaybePromise<Parts> {
  const { keys } = txn;
  if (keys.length <= NAMED) return [JSON.stringify({ server_latency: latency, txn: transactionJson(txn), ...more })];
  const rest = JSON.stringify({ server_latency: latency, ...more, txn: transactionJson({ ...txn, keys: [] }) });
  const at = rest.lastIndexOf(TRANSACTION) + TRANSACTION.length;
  const writing = inSlices(core, keysJson(keys));
  return writing.then((parts) => [`${rest.slice(0, at)}"keys":`, ...parts, `,${rest.slice(at)}`]);
}

function* keysJson(keys: readonly string[]): Steps<Parts> {
  const parts: Buffer[] = [];
  for (let at = 0; at < keys.length; at += NAMED, yield) {
    const list = JSON.stringify(keys.slice(at, at + NAMED));
    parts.push(Buffer.from(`${at === 0 ? '[' : ','}${list.slice(1, -1)}`));
  }
  return [...parts, ']'];
}

function transactionJson({ startTs, commitTs, hash, keys, preds }: TransactionInfo): Record<string, unknown> {
  return {
    start_ts: startTs,
    commit_ts: commitTs, // JSON leaves out what is undefined
    hash,
    keys: keys.length > 0 ? keys : undefined,
    preds: preds.length > 0 ? preds : undefined,
  };
}

/** Small parts become one text; large ones are joined without turning bytes into text and back. */
async function sendJson(core: Core, reply: FastifyReply, parts: Parts): Promise<FastifyReply> {
  let length = 0;
  for (const part of parts) length += part.length;
  reply.header('content-type', 'application/json');
  if (length <= TEXT_BYTES) {
    let text = '';
    for (const part of parts) text += typeof part === 'string' ? part : part.toString('utf8');
    return reply.serializer(asItIs).send(text);
  }
  return reply.send(await joined(core, parts));
}

/** Bytes that are copied in one step: fresh memory costs more than the copy. */
const COPIED = 1024 * 1024;

/** The bytes of all parts; with pauses where they are many. */
export function joined(core: Core, parts: Parts): MaybePromise<Buffer> {
  const pieces = parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part));
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  return length <= COPIED ? Buffer.concat(pieces, length) : inSlices(core, joining(pieces, length));
}

function* joining(pieces: readonly Buffer[], length: number): Steps<Buffer> {
  const whole = Buffer.allocUnsafe(length);
  let end = 0;
  for (const piece of pieces) {
    for (let from = 0; from < piece.length; from += COPIED) {
      if (from > 0) yield;
      end += piece.copy(whole, end, from, from + COPIED);
    }
    yield;
  }
  return whole;
}
