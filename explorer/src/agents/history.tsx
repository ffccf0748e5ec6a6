import { useEffect, useState } from 'react';
import type { PastState } from '../../../src/agents/info';
import { useLoaded } from '../shell/hooks';
import { Empty, Failure, Scroll, Table, time } from '../shell/parts';
import { history, pretty } from './model';

/** characters of a state that its row shows */
const SHOWN = 100;

/** What each turn has left; asked again once there were more turns, since a page of states may be large. */
export function History({ id, turns, active }: { id: string; turns: number; active: boolean }) {
  const [before, setBefore] = useState('');
  const { value, error, reload } = useLoaded(() => history(id, before), { active, key: before });
  // biome-ignore lint/correctness/useExhaustiveDependencies: `turns` says that there is more
  useEffect(reload, [turns]);
  if (!value) return error ? <Failure error={error} /> : <p className="loading">Loading…</p>;
  const last = value.at(-1);
  return (
    <>
      {error && <Failure error={error} />}
      {last === undefined ? (
        <Empty title={before === '' ? 'No history' : 'Nothing before that'}>
          <p>
            Its class may keep some: <code>static readonly history = 20</code>
          </p>
        </Empty>
      ) : (
        <Scroll label="History, newest first">
          <Table columns={['Turn', 'Changed by', 'At', 'Version', 'State']}>
            {value.map((past) => (
              <Row key={past.turn} past={past} />
            ))}
          </Table>
        </Scroll>
      )}
      <div className="pages">
        <button type="button" disabled={before === ''} onClick={() => setBefore('')}>
          Newest
        </button>
        <button type="button" disabled={last === undefined} onClick={() => setBefore(String(last?.turn))}>
          Older
        </button>
      </div>
    </>
  );
}

function Row({ past: { turn, at, kind, name, version, state = '' } }: { past: PastState }) {
  return (
    <tr>
      <th scope="row">{turn}</th>
      <td>
        {kind} <code>{name}</code>
      </td>
      <td>{time(at)}</td>
      <td>{version}</td>
      <td className="wrap">
        {state.length <= SHOWN ? (
          <code>{state}</code>
        ) : (
          <details>
            <summary>
              <code>{state.slice(0, SHOWN)}…</code>
            </summary>
            <pre>{pretty(state)}</pre>
          </details>
        )}
      </td>
    </tr>
  );
}
