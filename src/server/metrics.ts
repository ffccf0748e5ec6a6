import type { FastifyInstance } from 'fastify';
import { Gauge, type Metric, Registry } from 'prom-client';
import { RequestFigures } from './request-figures.js';

/** Rooms tell their figures as plain numbers; a name becomes `graphstead_<room>_<name>`. */
export type Figures = () => Readonly<Record<string, number>>;

export interface Metrics {
  /** figures read at each scrape */
  add(room: string, figures: Figures): void;
  /** counts and times every request */
  watch(app: FastifyInstance): void;
  /** text in the Prometheus exposition format */
  text(): Promise<string>;
  readonly contentType: string;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  const rooms = new Map<string, Figures>();
  const gauges = new Map<string, Gauge>();
  const requests = new RequestFigures();
  for (const metric of requests.metrics) registry.registerMetric(metric as unknown as Metric);
  new Gauge({
    name: 'graphstead_process_resident_bytes',
    help: 'memory of the main process',
    registers: [registry],
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });

  function gauge(name: string): Gauge {
    let made = gauges.get(name);
    if (!made) {
      made = new Gauge({ name, help: name.replaceAll('_', ' '), registers: [registry] });
      gauges.set(name, made);
    }
    return made;
  }

  return {
    contentType: registry.contentType,
    add: (room, figures) => rooms.set(room, figures),
    watch(app) {
      app.addHook('onResponse', (request, reply, done) => {
        const route = request.routeOptions.url ?? 'unknown';
        requests.add(route, request.method, reply.statusCode, reply.elapsedTime / 1000);
        done();
      });
    },
    async text() {
      for (const [room, figures] of rooms) {
        for (const [name, value] of Object.entries(figures())) gauge(metricName(room, name)).set(value);
      }
      return registry.metrics();
    },
  };
}

/** `commitTs` of room `store` -> `graphstead_store_commit_ts` */
function metricName(room: string, name: string): string {
  const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).replace(/[^a-z0-9_]/g, '_');
  return `graphstead_${room}_${snake}`;
}
