import { type GraphCall, type GraphScript, openScriptedGraphs } from './graph.js';
import { type HttpCall, type HttpScript, openScriptedHttp } from './http.js';
import { type ModelCall, type ModelScript, openScriptedModels } from './model.js';
import { openScriptedDatabases, type SqlCall, type SqlScript } from './relational.js';
import type { ResolvedConnections } from '../resolve.js';

export type { GraphCall, GraphReply, GraphScript } from './graph.js';
export type { HttpCall, HttpReply, HttpScript } from './http.js';
export type { ModelCall, ModelScript, ScriptedReply } from './model.js';
export type { SqlCall, SqlReply, SqlScript } from './relational.js';

/** What a test answers in place of the outside, by the names of app.json. */
export interface Scripts {
  readonly models?: Readonly<Record<string, ModelScript>>;
  readonly http?: Readonly<Record<string, HttpScript>>;
  readonly relational?: Readonly<Record<string, SqlScript>>;
  readonly graph?: Readonly<Record<string, GraphScript>>;
}

interface OpenScripts {
  /** calls so far, oldest first */
  readonly modelCalls: readonly ModelCall[];
  readonly httpCalls: readonly HttpCall[];
  readonly sqlCalls: readonly SqlCall[];
  readonly graphCalls: readonly GraphCall[];
  redirect(resolved: ResolvedConnections): ResolvedConnections;
  close(): Promise<void>;
}

/** Stands in for models and connections, on free ports of this machine. */
export async function openScripts({
  models = {},
  http = {},
  relational = {},
  graph = {},
}: Scripts): Promise<OpenScripts> {
  const opened = await Promise.all([
    openScriptedModels(models),
    openScriptedHttp(http),
    openScriptedDatabases(relational),
    openScriptedGraphs(graph),
  ]);
  const [{ calls: modelCalls }, { calls: httpCalls }, { calls: sqlCalls }, { calls: graphCalls }] = opened;
  return {
    modelCalls,
    httpCalls,
    sqlCalls,
    graphCalls,
    redirect: (resolved) => opened.reduce((before, { redirect }) => redirect(before), resolved),
    async close() {
      await Promise.all(opened.map((one) => one.close()));
    },
  };
}
