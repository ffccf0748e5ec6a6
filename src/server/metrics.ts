import type { FastifyInstance } from 'fastify';
import type { Metric, Registry } from 'prom-client';
import { Histogram } from '../base/index.js';
import type { CallLog, CallTotals } from '../connections/index.js';
import { type FigureType, figureOf, OWN, type OwnName, type Room, type Value, valuesOf } from './figures.js';
import { RequestFigures } from './request-figures.js';

/** Rooms tell their figures as plain numbers and times; `figures.ts` says what each name means. */
type Figures = () => Readonly<Record<string, number | Histogram>>;

export interface Metrics {
  /** figures read at each scrape */
  add(room: Room, figures: Figures): void;
  /** sums of connections and models, read at each scrape */
  calls(log: CallLog): void;
  /** counts and times every request of these routes */
  watch(app: FastifyInstance): void;
  /** counts one that was answered past them */
  readonly count: RequestFigures['add'];
  /** all figures as they are now, in the Prometheus exposition format */
  scrape(): Promise<Scrape>;
}

interface Scrape {
  readonly contentType: string;
  readonly text: string;
}

type Values = () => readonly Value[];
/** of one connection or model */
type ValuesOf = (name: string, totals: CallTotals) => readonly Value[];

export function createMetrics(version: string): Metrics {
  let opened: Promise<Registry> | undefined;
  const rooms = new Map<Room, Figures>();
  /** by its name; those of rooms come when they first tell them */
  const metrics = new Map<string, Metric>();
  /** what the rooms said when this scrape began */
  const said = new Map<Room, ReturnType<Figures>>();

  function register(name: string, type: FigureType, help: string, values: Values): void {
    const get = async () => ({ name, help, type, aggregator: 'sum', values: values() });
    // the registry asks a metric for no more than this
    metrics.set(name, { name, get } as unknown as Metric);
  }
  const own = (name: OwnName, values: Values) => register(name, OWN[name].type, OWN[name].help, values);
  const plain = (name: OwnName, read: () => number) => own(name, () => [{ labels: {}, value: read() }]);

  const requests = new RequestFigures();
  own('graphstead_http_requests_total', () => requests.counts());
  own('graphstead_http_request_seconds', () => requests.timings('graphstead_http_request_seconds'));
  plain('graphstead_process_resident_bytes', () => process.memoryUsage.rss());
  plain('graphstead_process_cpu_seconds_total', () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  const startedAt = performance.timeOrigin / 1000;
  plain('graphstead_process_start_time_seconds', () => startedAt);
  own('graphstead_build_info', () => [{ labels: { version, node: process.versions.node }, value: 1 }]);

  return {
    add: (room, figures) => rooms.set(room, figures),
    calls(log) {
      const of = (totals: () => Readonly<Record<string, CallTotals>>) => (name: OwnName, values: ValuesOf) =>
        own(name, () => Object.entries(totals()).flatMap(([each, all]) => values(each, all)));
      const connections = of(() => log.connections());
      const models = of(() => log.models());
      connections('graphstead_connection_calls_total', (connection, all) => outcomes({ connection }, all));
      connections('graphstead_connection_call_seconds_total', (connection, all) => seconds({ connection }, all));
      models('graphstead_model_calls_total', (model, all) => outcomes({ model }, all));
      models('graphstead_model_call_seconds_total', (model, all) => seconds({ model }, all));
      models('graphstead_model_tokens_total', (model, { inputTokens, outputTokens }) => [
        { labels: { model, direction: 'input' }, value: inputTokens },
        { labels: { model, direction: 'output' }, value: outputTokens },
      ]);
      models('graphstead_model_cost_total', (model, { cost }) =>
        cost === undefined ? [] : [{ labels: { model }, value: cost }],
      );
    },
    count: requests.add.bind(requests),
    watch(app) {
      app.addHook('onResponse', (request, reply, done) => {
        const route = request.routeOptions.url ?? 'unknown';
        requests.add(route, request.method, reply.statusCode, reply.elapsedTime / 1000);
        done();
      });
    },
    async scrape() {
      for (const [room, figures] of rooms) {
        said.set(room, figures());
        for (const key of Object.keys(said.get(room) ?? {})) {
          const { name, type, help } = figureOf(room, key);
          if (metrics.has(name)) continue;
          register(name, type, help, () => told(name, said.get(room)?.[key]));
        }
      }
      // the library loads with the first scrape; until then figures are only counted
      opened ??= import('prom-client').then(({ Registry }) => new Registry());
      const registry = await opened;
      for (const [name, metric] of metrics) if (!registry.getSingleMetric(name)) registry.registerMetric(metric);
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
  };
}

function told(name: string, figure: number | Histogram | undefined): readonly Value[] {
  return figure instanceof Histogram ? valuesOf(name, figure) : [{ labels: {}, value: figure ?? 0 }];
}

function outcomes(labels: Value['labels'], { calls, failed }: CallTotals): Value[] {
  return [
    { labels: { ...labels, outcome: 'ok' }, value: calls - failed },
    { labels: { ...labels, outcome: 'failed' }, value: failed },
  ];
}

function seconds(labels: Value['labels'], { ms }: CallTotals): Value[] {
  return [{ labels, value: ms / 1000 }];
}
