import { useEffect, useRef, useState } from 'react';
import type { AgentEvent } from '../../../src/agents/info';
import { request } from '../http';
import { Badge, Empty, Failure, Scroll, time } from '../shell/parts';
import { frames } from '../sse';
import { eventsPath } from './model';

/** events kept on the page; older ones can be replayed from the service */
const KEPT = 1_000;
const RETRY_MS = 1_500;
const STATUS_EVENT = 'agentStatusUpdated';

interface Shown extends AgentEvent {
  readonly key: number;
}

/** Events as they come; Replay tells all kept ones again, from the first. */
export function EventStream({ id, begin, active }: { id: string; begin: string; active: boolean }) {
  const [events, setEvents] = useState<readonly Shown[]>([]);
  const [filter, setFilter] = useState('');
  const [paused, setPaused] = useState(false);
  const [round, setRound] = useState({ n: 0, from: begin });
  const [live, setLive] = useState(false);
  const [failure, setFailure] = useState<Error>();
  const last = useRef<string>(undefined);
  const first = useRef(begin);

  useEffect(() => {
    if (!active || paused) return;
    const stop = new AbortController();
    last.current ??= round.n === 0 ? first.current : round.from;
    const add = batches((more) => setEvents((before) => [...more, ...before].slice(0, KEPT)));
    const follow = async () => {
      while (!stop.signal.aborted) {
        try {
          for await (const event of read(id, last.current, stop.signal, setLive)) {
            if (event.id !== undefined) last.current = event.id;
            add(event);
          }
          setFailure(undefined);
        } catch (error) {
          if (!stop.signal.aborted) setFailure(error as Error);
        }
        setLive(false);
        if (!stop.signal.aborted) await new Promise((again) => setTimeout(again, RETRY_MS));
      }
    };
    void follow();
    return () => stop.abort();
  }, [id, active, paused, round]);

  const replayAll = () => {
    setEvents([]);
    last.current = undefined;
    setRound((before) => ({ n: before.n + 1, from: begin }));
    setPaused(false);
  };
  const sought = filter.trim().toLowerCase();
  const shown = events.filter((event) => event.name.toLowerCase().includes(sought));
  return (
    <div className="events">
      <div className="toolbar">
        <input
          type="search"
          placeholder="Filter by name"
          aria-label="Filter events by name"
          value={filter}
          onChange={(event) => setFilter(event.target.value)}
        />
        <Badge tone={live && !paused ? 'good' : 'plain'}>{paused ? 'paused' : live ? 'live' : 'connecting'}</Badge>
        <span className="gap" />
        <button type="button" onClick={() => setPaused(!paused)}>
          {paused ? 'Go on' : 'Pause'}
        </button>
        <button type="button" onClick={replayAll}>
          Replay
        </button>
        <button type="button" className="quiet" onClick={() => setEvents([])}>
          Clear
        </button>
      </div>
      {failure && !live && <Failure error={failure} />}
      {shown.length === 0 && (
        <Empty title={events.length > 0 ? 'No event matches the filter' : 'No events yet'}>
          <p>
            {events.length > 0
              ? `${events.length} other events came.`
              : 'They show here as the agent publishes them. Send it a message below.'}
          </p>
        </Empty>
      )}
      <Scroll label="Events, newest first">
        <ol>
          {shown.map((event) => (
            <li key={event.key}>
              <time dateTime={event.timestamp}>{time(event.timestamp)}</time>
              <b>{event.name}</b>
              {event.id === undefined && <Badge>live only</Badge>}
              <code>{JSON.stringify(event.data)}</code>
            </li>
          ))}
        </ol>
      </Scroll>
    </div>
  );
}

async function* read(
  id: string,
  after: string | undefined,
  signal: AbortSignal,
  onLive: (live: boolean) => void,
): AsyncGenerator<AgentEvent> {
  const response = await request(eventsPath(id, after, []), { signal });
  if (!response.ok || !response.body) throw new Error(`the events cannot be read: ${response.status}`);
  onLive(true);
  for await (const frame of frames(response.body)) {
    if (frame.event === 'agent') yield JSON.parse(frame.data) as AgentEvent;
  }
}

let keys = 0;

/** Many events in one frame become one update of the page, newest first. */
function batches(flush: (events: readonly Shown[]) => void): (event: AgentEvent) => void {
  let held: Shown[] = [];
  return (event) => {
    if (event.name === STATUS_EVENT && event.id !== undefined) return;
    if (held.length === 0) {
      requestAnimationFrame(() => {
        flush(held);
        held = [];
      });
    }
    held.unshift({ ...event, key: keys++ });
  };
}
