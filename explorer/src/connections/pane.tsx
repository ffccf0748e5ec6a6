import { Fragment, useEffect, useState } from 'react';
import type { CallRecord, CallTotals, ConnectionReport, ModelReport, Reachable } from '../../../src/connections/info';
import { ask } from '../http';
import type { PaneProps } from '../shell/pane';
import { useLoaded } from '../shell/hooks';
import { Badge, duration, Empty, Failure, Scroll, Table, time } from '../shell/parts';

interface Report {
  readonly app: boolean;
  readonly connections: readonly ConnectionReport[];
  readonly models: readonly ModelReport[];
  readonly recent: readonly CallRecord[];
  readonly totals: {
    readonly connections: Readonly<Record<string, CallTotals>>;
    readonly models: Readonly<Record<string, CallTotals>>;
  };
}

export default function ConnectionsPane({ active }: PaneProps) {
  const { value, error } = useLoaded(() => ask<Report>('/explorer/api/connections'), { active, everyMs: 2_000 });
  if (error && !value) return <Failure error={error} />;
  if (!value) return <p className="loading">Loading…</p>;
  if (!value.app) {
    return (
      <Empty title="This service has no app">
        <p>Connections are named in an app’s app.json. Start the service with an app:</p>
        <pre>graphstead new my-app{'\n'}graphstead dev my-app</pre>
      </Empty>
    );
  }
  if (value.connections.length === 0) return <NoConnections />;
  return (
    <div className="page">
      <Scroll label="Connections and models">
        <Connections report={value} active={active} />
        <Models report={value} />
        <Calls calls={value.recent} />
      </Scroll>
    </div>
  );
}

function NoConnections() {
  return (
    <Empty title="No connections yet">
      <p>Name one in app.json; its secrets stay in the environment:</p>
      <pre>{`"connections": {
  "weather": {
    "type": "http",
    "baseUrl": "https://api.example.com/",
    "headers": { "Authorization": "Bearer {{API_KEY}}" }
  }
}`}</pre>
      <p>
        <code>{'{{API_KEY}}'}</code> is then read from <code>APP_WEATHER_API_KEY</code>, for development in{' '}
        <code>.env.dev.local</code>.
      </p>
    </Empty>
  );
}

function Connections({ report, active }: { report: Report; active: boolean }) {
  return (
    <Table caption="Connections" columns={['Name', 'Kind', 'Address', 'Variables', 'State', 'Calls']}>
      {report.connections.map((one) => (
        <tr key={one.name}>
          <th scope="row">{one.name}</th>
          <td>{one.kind}</td>
          <td>{one.address ? <code>{one.address}</code> : <span className="none">not known</span>}</td>
          <td>
            {one.variables.length === 0 && <span className="none">none</span>}
            {one.variables.map((variable) => (
              <div key={variable.name}>
                <code>{variable.name}</code>{' '}
                {variable.set ? <Badge tone="good">set</Badge> : <Badge tone="bad">not set</Badge>}
              </div>
            ))}
          </td>
          <td className="wrap">
            <State connection={one} active={active} />
          </td>
          <td>{callsText(report.totals.connections[one.name])}</td>
        </tr>
      ))}
    </Table>
  );
}

function State({ connection, active }: { connection: ConnectionReport; active: boolean }) {
  const [state, setState] = useState<Reachable>();
  const [round, setRound] = useState(0);
  const missing = connection.variables.filter((variable) => !variable.set);
  const { name, address } = connection;
  // biome-ignore lint/correctness/useExhaustiveDependencies: `round` asks again
  useEffect(() => {
    if (!active || address === undefined) return;
    let over = false;
    setState(undefined);
    ask<Reachable>(`/explorer/api/connections/${encodeURIComponent(name)}/reach`).then(
      (next) => !over && setState(next),
      (error: Error) => !over && setState({ reachable: false, ms: 0, reason: error.message }),
    );
    return () => {
      over = true;
    };
  }, [name, address, active, round]);
  return (
    <div className="reach">
      {missing.length > 0 && (
        <p>
          <Badge tone={connection.optional ? 'warn' : 'bad'}>left out</Badge> set{' '}
          {missing.map((variable) => variable.name).join(', ')} in .env.dev.local
        </p>
      )}
      {address !== undefined && (
        <p>
          {state === undefined ? (
            <Badge>asking…</Badge>
          ) : state.reachable ? (
            <>
              <Badge tone="good">reachable</Badge> in {duration(state.ms)}
            </>
          ) : (
            <>
              <Badge tone="bad">not reachable</Badge> {state.reason}
            </>
          )}{' '}
          <button
            type="button"
            className="link"
            onClick={() => setRound(round + 1)}
            aria-label={`check again: ${name}`}
          >
            check again
          </button>
        </p>
      )}
    </div>
  );
}

function callsText(totals: CallTotals | undefined): string {
  if (!totals) return '0';
  const failed = totals.failed > 0 ? `, ${totals.failed} failed` : '';
  return `${totals.calls}${failed}, ${duration(totals.ms / totals.calls)} each`;
}

function Models({ report }: { report: Report }) {
  if (report.models.length === 0) return null;
  return (
    <Table
      caption="Models"
      columns={['Name', 'Provider’s model', 'Connection', 'Path', 'Calls', 'Tokens in', 'Tokens out', 'Cost']}
    >
      {report.models.map((one) => {
        const totals = report.totals.models[one.name];
        return (
          <tr key={one.name}>
            <th scope="row">{one.name}</th>
            <td>{one.sourceModel}</td>
            <td>{one.connection}</td>
            <td>
              <code>{one.path}</code>
            </td>
            <td>{callsText(totals)}</td>
            <td className="number">{(totals?.inputTokens ?? 0).toLocaleString()}</td>
            <td className="number">{(totals?.outputTokens ?? 0).toLocaleString()}</td>
            <td className="number">{totals?.cost === undefined ? '–' : totals.cost.toFixed(4)}</td>
          </tr>
        );
      })}
    </Table>
  );
}

function Calls({ calls }: { calls: readonly CallRecord[] }) {
  if (calls.length === 0) {
    return (
      <Empty title="No calls yet">
        <p>
          Calls that functions and agents make through a connection or a model show here, with their time and tokens.
        </p>
      </Empty>
    );
  }
  return (
    <Table
      caption="Recent calls"
      count={calls.length}
      columns={['At', 'Connection', 'Kind', 'What', 'Time', 'Tokens', 'Outcome']}
    >
      {calls.map((call) => (
        <CallRow key={`${call.startedAt} ${call.kind} ${call.what} ${call.ms}`} call={call} />
      ))}
    </Table>
  );
}

function CallRow({ call }: { call: CallRecord }) {
  const [open, setOpen] = useState(false);
  const messages = call.model?.messages ?? [];
  return (
    <Fragment>
      <tr>
        <td>{time(call.startedAt)}</td>
        <th scope="row">{call.connection}</th>
        <td>{call.kind}</td>
        <td className="wrap">
          <code>{call.what}</code>{' '}
          {messages.length > 0 && (
            <button type="button" className="link" aria-expanded={open} onClick={() => setOpen(!open)}>
              {open ? 'hide messages' : 'messages'}
            </button>
          )}
        </td>
        <td className="number">{duration(call.ms)}</td>
        <td className="number">{call.model ? `${call.model.inputTokens} / ${call.model.outputTokens}` : ''}</td>
        <td className="wrap">
          {call.ok ? <Badge tone="good">ok</Badge> : <span className="wrong">{call.error}</span>}
        </td>
      </tr>
      {open && (
        <tr>
          <td colSpan={7}>
            <dl className="spoken" aria-label={`Messages of ${call.what}`}>
              {messages.map(({ role, text }, i) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: messages have no id, and their order is fixed
                <Fragment key={i}>
                  <dt>{role}</dt>
                  <dd>{text === '' ? <span className="none">nothing</span> : text}</dd>
                </Fragment>
              ))}
            </dl>
          </td>
        </tr>
      )}
    </Fragment>
  );
}
