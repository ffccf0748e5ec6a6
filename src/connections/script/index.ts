import { type CustomCall, type CustomScript, openScriptedCustom } from './custom.js';
import { type GraphCall, type GraphScript, openScriptedGraphs } from './graph.js';
import { type HttpCall, type HttpScript, openScriptedHttp } from './http.js';
import { type ModelCall, type ModelScript, openScriptedModels } from './model.js';
import { openScriptedDatabases, type SqlCall, type SqlScript } from './relational.js';
import type { ResolvedConnections } from '../resolve.js';

export type { CustomCall, CustomScript } from './custom.js';
export type { GraphCall, GraphReply, GraphScript } from './graph.js';
export type { HttpCall, HttpReply, HttpScript } from './http.js';
export type { ModelCall, ModelScript, ScriptedReply } from './model.js';
export type { SqlCall, SqlReply, SqlScript } from './relational.js';

/** What a test answers in place of the outside, by the names of app.json; custom logic by the addresses of schema.graphql. */
export interface Scripts {
  readonly models?: Readonly<Record<string, ModelScript>>;
  readonly http?: Readonly<Record<string, HttpScript>>;
  readonly relational?: Readonly<Record<string, SqlScript>>;
  readonly graph?: Readonly<Record<string, GraphScript>>;
  /** by address, such as `https://api.example.org` or `https://api.example.org/v1`: all that is called below it */
  readonly custom?: Readonly<Record<string, CustomScript>>;
}

interface OpenScripts {
  /** calls so far, oldest first */
  readonly modelCalls: readonly ModelCall[];
  readonly httpCalls: readonly HttpCall[];
  readonly sqlCalls: readonly SqlCall[];
  readonly graphCalls: readonly GraphCall[];
  readonly customCalls: readonly CustomCall[];
  /** where a call of custom logic goes in place of its address */
  outgoing(url: string): string;
  redirect(resolved: ResolvedConnections): ResolvedConnections;
  close(): Promise<void>;
}

/** Stands in for models and connections, on free ports of this machine. */
export async function openScripts({
  models = {},
  http = {},
  relational = {},
  graph = {},
  custom = {},
}: Scripts): Promise<OpenScripts> {
  const opened = await Promise.all([
    openScriptedModels(models),
    openScriptedHttp(http),
    openScriptedDatabases(relational),
    openScriptedGraphs(graph),
  ]);
  const outside = await openScriptedCustom(custom);
  const [{ calls: modelCalls }, { calls: httpCalls }, { calls: sqlCalls }, { calls: graphCalls }] = opened;
  return {
    modelCalls,
    httpCalls,
    sqlCalls,
    graphCalls,
    customCalls: outside.calls,
    outgoing: outside.outgoing,
    redirect: (resolved) => opened.reduce((before, { redirect }) => redirect(before), resolved),
    async close() {
      await Promise.all([...opened, outside].map((one) => one.close()));
    },
  };
}
