import type { FastifyInstance } from 'fastify';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';

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

const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

export function createMetrics(): Metrics {
  const registry = new Registry();
  const rooms = new Map<string, Figures>();
  const gauges = new Map<string, Gauge>();
  const requests = new Counter({
    name: 'graphstead_http_requests_total',
    help: 'requests answered',
    labelNames: ['route', 'method', 'status'],
    registers: [registry],
  });
  const seconds = new Histogram({
    name: 'graphstead_http_request_seconds',
    help: 'time from the request to its answer',
    labelNames: ['route'],
    buckets: SECONDS,
    registers: [registry],
  });
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
      app.addHook('onResponse', async (request, reply) => {
        const route = request.routeOptions.url ?? 'unknown';
        requests.inc({ route, method: request.method, status: reply.statusCode });
        seconds.observe({ route }, reply.elapsedTime / 1000);
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
