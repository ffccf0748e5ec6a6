import { useState } from 'react';
import { Empty, Scroll } from '../shell/parts';

const STEP = 200;

/** One table a block: a row an object, a column a key; what is nested is counted, and shown when opened. */
export function ResultTable({ data }: { data: Readonly<Record<string, unknown>> }) {
  const blocks = Object.entries(data).filter(([, block]) => Array.isArray(block)) as [string, unknown[]][];
  if (blocks.length === 0) return <Scalars data={data} />;
  return (
    <Scroll label="Result as table">
      {blocks.map(([name, rows]) => (
        <Block key={name} name={name} rows={rows} />
      ))}
      {blocks.length < Object.keys(data).length && (
        <Scalars data={Object.fromEntries(Object.entries(data).filter(([, block]) => !Array.isArray(block)))} />
      )}
    </Scroll>
  );
}

function Block({ name, rows }: { name: string; rows: readonly unknown[] }) {
  const [shown, setShown] = useState(STEP);
  const objects = rows.map(
    (row) => (typeof row === 'object' && row !== null ? row : { value: row }) as Record<string, unknown>,
  );
  const columns = [...new Set(objects.slice(0, 1_000).flatMap((row) => Object.keys(row)))];
  if (rows.length === 0) {
    return (
      <Empty title={`${name}: nothing found`}>
        <p>
          The query ran; no node matches. Check the function after <code>func:</code> and the filter.
        </p>
      </Empty>
    );
  }
  return (
    <table className="result">
      <caption>
        {name} <span className="count">{rows.length}</span>
      </caption>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column} scope="col">
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {objects.slice(0, shown).map((row, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity and never move
          <tr key={i}>
            {columns.map((column) => (
              <td key={column}>
                <Cell value={row[column]} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
      {rows.length > shown && (
        <tfoot>
          <tr>
            <td colSpan={columns.length}>
              <button type="button" className="quiet" onClick={() => setShown(shown + STEP * 5)}>
                Show more ({rows.length - shown} left)
              </button>
            </td>
          </tr>
        </tfoot>
      )}
    </table>
  );
}

function Cell({ value }: { value: unknown }) {
  if (value === undefined || value === null) return <span className="none">–</span>;
  if (typeof value !== 'object') return <>{String(value)}</>;
  if (Array.isArray(value) && value.every((one) => typeof one !== 'object' || one === null))
    return <>{value.join(', ')}</>;
  const count = Array.isArray(value) ? `${value.length} ${value.length === 1 ? 'node' : 'nodes'}` : 'object';
  return (
    <details>
      <summary>{count}</summary>
      <pre>{JSON.stringify(value, null, 2)}</pre>
    </details>
  );
}

function Scalars({ data }: { data: Readonly<Record<string, unknown>> }) {
  return (
    <dl className="facts">
      {Object.entries(data).map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{typeof value === 'object' ? <code>{JSON.stringify(value)}</code> : String(value)}</dd>
        </div>
      ))}
    </dl>
  );
}
