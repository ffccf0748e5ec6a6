import { useState } from 'react';
import { Details } from '../query/details';
import { type GraphSchema, readSchema } from '../query/schema';
import type { PaneProps } from '../shell/pane';
import { useLoaded } from '../shell/hooks';
import { CopyButton, Empty, Failure, Pager, Scroll } from '../shell/parts';
import { countNodes, pageQuery, readNode, readPage, type Row, type Source, sourcesOf } from './model';

/** a source and a node; names of predicates may hold slashes */
const ADDRESS = /^(.*?)(?:\/(0x[\da-f]+))?$/;

/** `#data/Type/0x1`: the nodes of each type page by page, and one of them with its neighbours. */
export default function DataPane({ active, rest, info }: PaneProps) {
  const [last, setLast] = useState('');
  const schema = useLoaded(readSchema, { active, everyMs: 10_000 });
  if (rest !== '' && rest !== last) setLast(rest);
  if (schema.value === undefined) {
    return schema.error ? <Failure error={schema.error} /> : <p className="loading">Reading the schema…</p>;
  }
  const sources = sourcesOf(schema.value);
  if (sources.length === 0) {
    return (
      <Empty title="The graph is empty">
        <p>Types and predicates show here once there are some. The graph language writes a first node.</p>
      </Empty>
    );
  }
  const [, name, uid] = ADDRESS.exec(rest || last) ?? [];
  const source = sources.find((one) => one.name === name) ?? sources[0];
  return (
    <div className="master narrow">
      <Sources sources={sources} current={source.name} active={active} />
      <div className={uid ? 'rows with-node' : 'rows'}>
        <Rows key={source.name} source={source} active={active} current={uid} />
        {uid && (
          <Node
            key={uid}
            uid={uid}
            source={source.name}
            schema={schema.value}
            active={active}
            typePredicate={info?.typePredicate ?? 'service.type'}
          />
        )}
      </div>
    </div>
  );
}

/** The address of a node, or of all of a source. */
function go(source: string, uid = ''): void {
  location.hash = `data/${encodeURIComponent(source)}${uid === '' ? '' : `/${uid}`}`;
}

interface SourcesProps {
  readonly sources: readonly Source[];
  readonly current: string;
  readonly active: boolean;
}

function Sources({ sources, current, active }: SourcesProps) {
  const names = sources.map(({ name }) => name).join(' ');
  // not again and again: to count the nodes of a type is to read its index
  const counts = useLoaded(() => countNodes(sources), { active, key: names });
  return (
    <nav className="list" aria-label="Types">
      {counts.error && <Failure error={counts.error} />}
      <ul className="choices">
        {sources.map(({ name }, i) => (
          <li key={name}>
            <a href={`#data/${encodeURIComponent(name)}`} aria-current={name === current ? 'true' : undefined}>
              <span className="row">
                <b>{name}</b>
                <span>{counts.value?.[i]?.toLocaleString()}</span>
              </span>
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

interface RowsProps {
  readonly source: Source;
  readonly active: boolean;
  readonly current: string | undefined;
}

function Rows({ source, active, current }: RowsProps) {
  const [filter, setFilter] = useState('');
  /** where the pages up to the shown one begin: after these uids */
  const [pages, setPages] = useState<readonly string[]>(['']);
  const after = pages[pages.length - 1];
  const page = useLoaded(() => readPage(source, after, filter), {
    active,
    key: `${after} ${filter} ${source.columns.map(({ predicate }) => predicate).join(' ')}`,
  });
  const { rows = [], next } = page.value ?? {};
  return (
    <div className="page">
      <div className="toolbar">
        <Filter
          source={source}
          onFilter={(text) => {
            setFilter(text);
            setPages(['']);
          }}
        />
        <button type="button" className="quiet" onClick={page.reload}>
          Reload
        </button>
        <CopyButton label="Copy query" text={() => pageQuery(source, after, filter)} />
      </div>
      {page.error && <Failure error={page.error} />}
      {page.value && rows.length === 0 && (
        <Empty title={filter === '' ? 'No nodes yet' : 'No node passes the filter'}>
          <p>{filter === '' ? `A mutation that adds one to ${source.name} shows here.` : 'Clear it to see all.'}</p>
        </Empty>
      )}
      {rows.length > 0 && <RowTable source={source} rows={rows} current={current} />}
      <div className="pages">
        <Pager of="nodes" pages={pages} next={next} onChange={setPages} />
      </div>
    </div>
  );
}

/** A filter of the graph language, asked for with Enter. */
function Filter({ source, onFilter }: { source: Source; onFilter(text: string): void }) {
  const searched = source.columns.find(({ index }) => index) ?? source.columns[0];
  const example = searched ? `@filter: eq(${searched.predicate}, …)` : '@filter';
  return (
    <form
      className="filter"
      onSubmit={(event) => {
        event.preventDefault();
        onFilter(String(new FormData(event.currentTarget).get('filter')));
      }}
    >
      <input name="filter" type="search" aria-label="Filter in the graph language" placeholder={example} />
    </form>
  );
}

function RowTable({ source, rows, current }: { source: Source; rows: readonly Row[]; current: string | undefined }) {
  const short = (predicate: string) =>
    predicate.startsWith(`${source.name}.`) ? predicate.slice(source.name.length + 1) : predicate;
  return (
    <Scroll label={source.name}>
      <table className="result">
        <thead>
          <tr>
            <th scope="col">uid</th>
            {source.columns.map(({ predicate, type }) => (
              <th key={predicate} scope="col" title={predicate}>
                {short(predicate)} <span className="note">{type === 'uid' ? 'edges' : type}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ uid, cells }) => (
            <tr key={uid} aria-current={uid === current ? 'true' : undefined}>
              <td>
                <button type="button" className="link uid" onClick={() => go(source.name, uid)}>
                  {uid}
                </button>
              </td>
              {cells.map((cell, i) => (
                <td key={source.columns[i].predicate}>{cellText(cell)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function cellText(cell: unknown): string {
  if (cell === undefined || cell === null) return '';
  if (Array.isArray(cell)) return cell.map(cellText).join(', ');
  return typeof cell === 'object' ? JSON.stringify(cell) : String(cell);
}

interface NodeProps {
  readonly uid: string;
  readonly source: string;
  readonly schema: GraphSchema;
  readonly active: boolean;
  readonly typePredicate: string;
}

function Node({ uid, source, schema, active, typePredicate }: NodeProps) {
  const around = useLoaded(() => readNode(uid, schema, typePredicate), { active, key: uid });
  const node = around.value?.nodes.get(uid);
  if (around.error) return <Failure error={around.error} />;
  if (around.value === undefined) return <p className="loading">Reading {uid}…</p>;
  if (node === undefined) {
    return (
      <Empty title={`${uid} holds nothing`}>
        <p>It was deleted, or nothing was ever written to it.</p>
      </Empty>
    );
  }
  return <Details node={node} data={around.value} onPick={(other) => go(source, other)} onClose={() => go(source)} />;
}
