import type { FastifyInstance } from 'fastify';
import type { Gauge, Metric, Registry } from 'prom-client';
import { RequestFigures } from './request-figures.js';

/** Rooms tell their figures as plain numbers; a name becomes `graphstead_<room>_<name>`. */
export type Figures = () => Readonly<Record<string, number>>;

export interface Scrape {
  readonly contentType: string;
  readonly text: string;
}

export interface Metrics {
  /** figures read at each scrape */
  add(room: string, figures: Figures): void;
  /** counts and times every request */
  watch(app: FastifyInstance): void;
  /** all figures as they are now, in the Prometheus exposition format */
  scrape(): Promise<Scrape>;
}

export function createMetrics(): Metrics {
  const rooms = new Map<string, Figures>();
  const requests = new RequestFigures();
  let opened: Promise<Exposition> | undefined;
  return {
    add: (room, figures) => rooms.set(room, figures),
    watch(app) {
      app.addHook('onResponse', (request, reply, done) => {
        const route = request.routeOptions.url ?? 'unknown';
        requests.add(route, request.method, reply.statusCode, reply.elapsedTime / 1000);
        done();
      });
    },
    async scrape() {
      opened ??= openExposition(requests);
      const { registry, gauge } = await opened;
      for (const [room, figures] of rooms) {
        for (const [name, value] of Object.entries(figures())) gauge(metricName(room, name)).set(value);
      }
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
  };
}

/** What a scrape is written with. */
interface Exposition {
  readonly registry: Registry;
  gauge(name: string): Gauge;
}

/** The library loads with the first scrape; until then figures are only counted. */
async function openExposition(requests: RequestFigures): Promise<Exposition> {
  const { Gauge, Registry } = await import('prom-client');
  const registry = new Registry();
  for (const metric of requests.metrics) registry.registerMetric(metric as unknown as Metric);
  new Gauge({
    name: 'graphstead_process_resident_bytes',
    help: 'memory of the main process',
    registers: [registry],
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
  const gauges = new Map<string, Gauge>();
  const gauge = (name: string): Gauge => {
    const known = gauges.get(name);
    if (known) return known;
    const made = new Gauge({ name, help: name.replaceAll('_', ' '), registers: [registry] });
    gauges.set(name, made);
    return made;
  };
  return { registry, gauge };
}

/** `commitTs` of room `store` -> `graphstead_store_commit_ts` */
function metricName(room: string, name: string): string {
  const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).replace(/[^a-z0-9_]/g, '_');
  return `graphstead_${room}_${snake}`;
}
