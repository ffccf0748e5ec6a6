import { useCallback, useEffect, useRef, useState } from 'react';
import { useDark } from '../shell/hooks';
import { Empty, Failure } from '../shell/parts';
import { Details } from './details';
import { type Colours, Drawing } from './drawing';
import { expandNode } from './expand';
import { addAnswer, emptyPicture, nameNodes, type PictureData } from './nodes';
import { query, type Ran } from './run';
import { type GraphSchema, labelPredicates } from './schema';

interface PictureProps {
  readonly ran: Ran;
  readonly schema: GraphSchema;
  readonly typePredicate: string;
}

/** The answer as nodes and edges. A click on a node fetches what stands around it. */
export default function Picture({ ran, schema, typePredicate }: PictureProps) {
  const place = useRef<HTMLDivElement>(null);
  const drawing = useRef<Drawing>(undefined);
  const data = useRef<PictureData>(emptyPicture());
  const [counts, setCounts] = useState<{ nodes: number; edges: number; dropped: number }>();
  const [picked, setPicked] = useState<string>();
  const [expanded, setExpanded] = useState<ReadonlySet<string>>(new Set());
  const [failure, setFailure] = useState<Error>();
  const dark = useDark();
  const expand = useRef<(uid: string) => void>(() => undefined);

  const draw = useCallback(() => {
    const { nodes, edges, dropped } = data.current;
    nameNodes(data.current, labelPredicates(schema));
    drawing.current?.show(data.current);
    setCounts({ nodes: nodes.size, edges: edges.size, dropped });
  }, [schema]);

  expand.current = async (uid) => {
    if (expanded.has(uid)) return;
    setExpanded((before) => new Set(before).add(uid));
    try {
      const types = data.current.nodes.get(uid)?.types ?? [];
      addAnswer(data.current, await expandNode(uid, types, schema, typePredicate), typePredicate);
      setFailure(undefined);
      draw();
    } catch (error) {
      setFailure(error as Error);
    }
  };

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new answer is a new picture; the schema alone is none
  useEffect(() => {
    let over = false;
    data.current = emptyPicture();
    setPicked(undefined);
    setExpanded(new Set());
    setFailure(undefined);
    const pick = (uid: string | undefined) => {
      setPicked(uid);
      if (uid !== undefined) expand.current(uid);
    };
    const begin = async () => {
      addAnswer(data.current, await withUids(ran, typePredicate), typePredicate);
      if (over) return;
      drawing.current = new Drawing(place.current as HTMLElement, coloursOf(), pick);
      draw();
    };
    begin().catch((error: Error) => setFailure(error));
    return () => {
      over = true;
      drawing.current?.end();
      drawing.current = undefined;
    };
  }, [ran]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `dark` is read through the page's variables
  useEffect(() => drawing.current?.colour(coloursOf()), [dark]);
  useEffect(() => drawing.current?.select(picked), [picked]);

  const show = (uid: string) => {
    setPicked(uid);
    expand.current(uid);
    drawing.current?.focus(uid);
  };
  const node = picked === undefined ? undefined : data.current.nodes.get(picked);
  return (
    <div className="picture">
      <div
        className="canvas"
        ref={place}
        role="img"
        aria-label={counts ? `${counts.nodes} nodes, ${counts.edges} edges` : 'graph'}
      />
      {counts?.nodes === 0 && (
        <Empty title="No nodes to draw">
          <p>
            The answer has no objects. Query nodes, for example with <code>func: has(predicate)</code>.
          </p>
        </Empty>
      )}
      <div className="picture-top">
        <Finder data={data.current} onPick={show} />
        <div className="buttons">
          <button type="button" onClick={() => drawing.current?.zoom(0.7)} aria-label="Zoom in">
            +
          </button>
          <button type="button" onClick={() => drawing.current?.zoom(1.4)} aria-label="Zoom out">
            −
          </button>
          <button type="button" onClick={() => drawing.current?.fit()}>
            Fit
          </button>
        </div>
      </div>
      {failure && <Failure error={failure} />}
      <p className="picture-foot">
        <span className="counts">
          {counts ? `${counts.nodes.toLocaleString()} nodes · ${counts.edges.toLocaleString()} edges` : 'drawing…'}
          {counts && counts.dropped > 0 && ` · more were left out; add first: to the query`}
        </span>
        {counts &&
          drawing.current?.legend().map(({ type, colour }) => (
            <span key={type} className="legend">
              <span className="swatch" style={{ background: colour }} aria-hidden="true" /> {type}
            </span>
          ))}
      </p>
      {node && <Details node={node} data={data.current} onPick={show} onClose={() => setPicked(undefined)} />}
    </div>
  );
}

/** Objects without a uid cannot be told apart: the same query in debug form adds it to each. */
async function withUids({ text, statement, variables, answer }: Ran, typePredicate: string) {
  const probe = emptyPicture();
  addAnswer(probe, answer.data, typePredicate);
  if (probe.nodes.size > 0 || statement.kind !== 'query') return answer.data;
  return (await query(text, variables, '?debug=true&ro=true')).data;
}

function coloursOf(): Colours {
  const style = getComputedStyle(document.documentElement);
  const read = (name: string) => style.getPropertyValue(name).trim();
  return {
    text: read('--text'),
    panel: read('--panel'),
    edge: read('--edge'),
    strong: read('--faint'),
    faint: read('--node-faint'),
  };
}

/** Finds a node by its label: the way to a node without a mouse. */
function Finder({ data, onPick }: { data: PictureData; onPick(uid: string): void }) {
  const [text, setText] = useState('');
  const sought = text.trim().toLowerCase();
  const found =
    sought === ''
      ? []
      : [...data.nodes.values()]
          .filter(({ label, uid }) => label.toLowerCase().includes(sought) || uid === sought)
          .slice(0, 8);
  const pick = (uid: string) => {
    setText('');
    onPick(uid);
  };
  return (
    <search className="finder">
      <input
        type="search"
        placeholder="Find a node"
        aria-label="Find a node"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && found[0]) pick(found[0].uid);
        }}
      />
      {found.length > 0 && (
        <ul>
          {found.map((node) => (
            <li key={node.uid}>
              <button type="button" onClick={() => pick(node.uid)}>
                {node.label} <span className="uid">{node.uid}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </search>
  );
}
