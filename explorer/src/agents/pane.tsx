import { useState } from 'react';
import type { AgentInfo, AgentType } from '../../../src/agents/info';
import type { PaneProps } from '../shell/pane';
import { useLoaded } from '../shell/hooks';
import { count, Empty, Failure, Pager } from '../shell/parts';
import { AgentView } from './agent';
import { StatusBadge } from './status-badge';
import { listAgents, startAgent } from './model';

const STATUSES = ['running', 'suspended', 'starting', 'terminated'];

export default function AgentsPane({ active, rest, info }: PaneProps) {
  const [name, setName] = useState('');
  const [status, setStatus] = useState('');
  const [last, setLast] = useState('');
  /** where the pages up to the shown one begin: after these ids */
  const [pages, setPages] = useState<readonly string[]>(['']);
  if (rest !== '' && rest !== last) setLast(rest);
  const on = info?.agents === true;
  const loaded = useLoaded(() => listAgents(name, status, pages[pages.length - 1]), {
    active: active && on,
    everyMs: 2_000,
    key: `${name} ${status} ${pages.length}`,
  });
  if (info && !on) {
    return (
      <Empty title="This service has no app">
        <p>Agents live in an app. Start the service with one, and they show here:</p>
        <pre>graphstead new my-app{'\n'}graphstead dev my-app</pre>
      </Empty>
    );
  }
  const { agents = [], types = [], next } = loaded.value ?? {};
  const at = rest || last;
  const choose = (change: () => void) => {
    change();
    setPages(['']);
  };
  const filtered = name !== '' || status !== '';
  const names = [...new Set([...types.map((type) => type.name), ...agents.map((agent) => agent.name)])].sort();
  return (
    <div className="master">
      <div className="list">
        <div className="toolbar">
          <select aria-label="Type" value={name} onChange={(event) => choose(() => setName(event.target.value))}>
            <option value="">Any type</option>
            {names.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
          <select aria-label="Status" value={status} onChange={(event) => choose(() => setStatus(event.target.value))}>
            <option value="">Any status</option>
            {STATUSES.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
          <StartAgent
            types={types}
            onStarted={(agent) => {
              location.hash = `agents/${agent.id}`;
              loaded.reload();
            }}
          />
        </div>
        {loaded.error && <Failure error={loaded.error} />}
        {loaded.value && agents.length === 0 && <NoAgents filtered={filtered} types={types} />}
        <ul className="choices" aria-label="Agents">
          {agents.map((agent) => (
            <Row key={agent.id} agent={agent} current={agent.id === at} />
          ))}
        </ul>
        <div className="pages">
          <FindAgent />
          <Pager of="agents" pages={pages} next={next} onChange={setPages} />
        </div>
      </div>
      {at === '' ? (
        agents.length > 0 ? (
          <Empty title="Choose an agent">
            <p>Its state, its events as they come, and its messages show here.</p>
          </Empty>
        ) : (
          <div />
        )
      ) : (
        <AgentView key={at} id={at} active={active} types={types} />
      )}
    </div>
  );
}

/** The list is long where there are many: an id that was logged or answered leads straight to its agent. */
function FindAgent() {
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const id = String(new FormData(event.currentTarget).get('id')).trim();
        if (id !== '') location.hash = `agents/${encodeURIComponent(id)}`;
        event.currentTarget.reset();
      }}
    >
      <input
        name="id"
        type="search"
        aria-label="Go to the agent of an id"
        placeholder="Go to an id"
        autoComplete="off"
      />
    </form>
  );
}

function NoAgents({ filtered, types }: { filtered: boolean; types: readonly AgentType[] }) {
  if (filtered) {
    return (
      <Empty title="No agent matches">
        <p>Choose any type and any status to see every agent.</p>
      </Empty>
    );
  }
  return (
    <Empty title="No agents yet">
      {types.length > 0 ? (
        <p>Start one above, or call the app’s own operation for it in the GraphQL pane.</p>
      ) : (
        <p>
          The app registers no agent type. Write a class that extends <code>Agent</code> and call{' '}
          <code>agents.register(It)</code>.
        </p>
      )}
    </Empty>
  );
}

function StartAgent({ types, onStarted }: { types: readonly AgentType[]; onStarted(agent: AgentInfo): void }) {
  const [failure, setFailure] = useState<Error>();
  const [busy, setBusy] = useState(false);
  const start = async (name: string) => {
    setBusy(true);
    setFailure(undefined);
    try {
      onStarted(await startAgent(name));
    } catch (error) {
      setFailure(error as Error);
    }
    setBusy(false);
  };
  return (
    <>
      <select
        aria-label="Start an agent"
        value=""
        disabled={types.length === 0 || busy}
        onChange={(event) => start(event.target.value)}
      >
        <option value="">{busy ? 'Starting…' : 'Start…'}</option>
        {types.map((type) => (
          <option key={type.name}>{type.name}</option>
        ))}
      </select>
      {failure && <Failure error={failure} />}
    </>
  );
}

function Row({ agent, current }: { agent: AgentInfo; current: boolean }) {
  return (
    <li>
      <a href={`#agents/${encodeURIComponent(agent.id)}`} aria-current={current ? 'true' : undefined}>
        <span className="row">
          <b>{agent.name}</b>
          <StatusBadge status={agent.status} />
        </span>
        <span className="row sub">
          <span className="uid">{agent.id}</span>
          <span>
            {count(agent.turns, 'turn')}
            {agent.waiting > 0 && ` · ${agent.waiting} waiting`}
            {agent.deadLetters > 0 && <span className="wrong"> · {agent.deadLetters} dead</span>}
          </span>
        </span>
      </a>
    </li>
  );
}
