import { duration } from '../shell/parts';
import type { Ran } from './run';

/** Where the time went: the service's own split, and the rest of what the page waited. */
export function LatencySplit({ ran }: { ran: Ran }) {
  const latency = ran.answer.extensions?.server_latency;
  if (!latency) return null;
  const { parsing_ns = 0, assign_timestamp_ns = 0, processing_ns = 0, encoding_ns = 0, total_ns = 0 } = latency;
  const server = Math.max(total_ns, parsing_ns + assign_timestamp_ns + processing_ns + encoding_ns) / 1e6;
  const parts = [
    ['parse', parsing_ns / 1e6],
    ['timestamp', assign_timestamp_ns / 1e6],
    ['process', processing_ns / 1e6],
    ['encode', encoding_ns / 1e6],
    ['transport', Math.max(0, ran.ms - server)],
  ] as const;
  const sum = parts.reduce((total, [, ms]) => total + ms, 0) || 1;
  return (
    <div className="latency">
      <div className="bar" aria-hidden="true">
        {parts.map(([name, ms]) => (
          <span key={name} className={`part-${name}`} style={{ flexGrow: ms / sum }} />
        ))}
      </div>
      <ul>
        {parts.map(([name, ms]) => (
          <li key={name}>
            <span className={`swatch part-${name}`} aria-hidden="true" /> {name} <b>{duration(ms)}</b>
          </li>
        ))}
      </ul>
    </div>
  );
}
