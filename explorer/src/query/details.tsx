import type { PictureData, PictureNode } from './nodes';

interface DetailsProps {
  readonly node: PictureNode;
  readonly data: PictureData;
  onPick(uid: string): void;
  onClose(): void;
}

/** One node: its values, and its edges as buttons that lead to the other end. */
export function Details({ node, data, onPick, onClose }: DetailsProps) {
  const edges = [...data.edges.values()].filter(({ from, to }) => from === node.uid || to === node.uid);
  return (
    <aside className="details" aria-label={`Node ${node.label}`}>
      <header>
        <h2>{node.label}</h2>
        <button type="button" className="quiet" onClick={onClose} aria-label="Close">
          ×
        </button>
      </header>
      <p className="uid">
        {node.uid} {node.types.join(', ')}
      </p>
      <dl className="facts">
        {Object.entries(node.values).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{typeof value === 'object' ? JSON.stringify(value) : String(value)}</dd>
          </div>
        ))}
      </dl>
      {edges.length > 0 && <h3>Edges ({edges.length})</h3>}
      <ul className="edges">
        {edges.slice(0, 60).map(({ from, to, predicate }) => {
          const other = from === node.uid ? to : from;
          return (
            <li key={`${from} ${predicate} ${to}`}>
              <span className="predicate">
                {from === node.uid ? '→' : '←'} {predicate}
              </span>
              <button type="button" className="link" onClick={() => onPick(other)}>
                {data.nodes.get(other)?.label ?? other}
              </button>
            </li>
          );
        })}
      </ul>
    </aside>
  );
}
