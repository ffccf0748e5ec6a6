import { json } from '@codemirror/lang-json';
import { lazy, Suspense, useMemo, useRef, useState } from 'react';
import { apiKey } from '../http';
import type { PaneProps } from '../shell/pane';
import { useKept, useLoaded } from '../shell/hooks';
import { Badge, CopyButton, duration, Empty, Failure, Tabs } from '../shell/parts';
import { Editor } from './editor';
import { graphLanguage } from './language';
import { LatencySplit } from './latency';
import { type Ran, run } from './run';
import {
  type GraphSchema,
  isReserved,
  labelPredicates,
  NO_SCHEMA,
  readSchema,
  type StoredType,
  written,
} from './schema';
import { type Statement, statementOf } from './statement';
import { ResultTable } from './table';

const Picture = lazy(() => import('./picture'));
const KEPT = 30;
const VIEWS = [
  { id: 'table', label: 'Table' },
  { id: 'json', label: 'JSON' },
  { id: 'picture', label: 'Picture' },
];

export default function QueryPane({ active, info }: PaneProps) {
  const [text, setText] = useKept('query.text', '');
  const [variables, setVariables] = useKept('query.variables', '');
  const [past, setPast] = useKept<readonly string[]>('query.past', []);
  const [view, setView] = useKept('query.view', 'table');
  const [ran, setRan] = useState<Ran>();
  const [failure, setFailure] = useState<Error>();
  const [running, setRunning] = useState(false);
  const schema = useLoaded(readSchema, { active });
  const known = useRef<GraphSchema>(NO_SCHEMA);
  known.current = schema.value ?? NO_SCHEMA;
  const language = useMemo(() => graphLanguage(() => known.current), []);
  const statement = statementOf(text);

  const start = async (given = text) => {
    if (given.trim() === '' || running) return;
    setRunning(true);
    try {
      const what = statementOf(given);
      const done = await run(given, what, parseVariables(what, variables));
      setRan(done);
      setFailure(undefined);
      setPast([given, ...past.filter((one) => one !== given)].slice(0, KEPT));
      if (what.kind === 'mutation') schema.reload();
    } catch (error) {
      setFailure(error as Error);
    }
    setRunning(false);
  };
  const take = ({ text: next, view: as }: Sample) => {
    setText(next);
    if (as) setView(as);
    void start(next);
  };

  return (
    <div className="split">
      <div className="ask">
        <div className="toolbar">
          <button
            type="button"
            className="primary"
            onClick={() => start()}
            disabled={running || text.trim() === ''}
            title="Ctrl+Enter"
          >
            {running ? 'Running…' : statement.kind === 'query' ? 'Run' : 'Run mutation'}
          </button>
          <Badge tone={statement.kind === 'mutation' ? 'warn' : 'plain'}>
            {statement.kind === 'query' ? 'POST /query' : 'POST /mutate?commitNow=true'}
          </Badge>
          <span className="gap" />
          <History past={past} onPick={setText} />
          <CopyButton label="Copy as curl" text={() => curlOf(text, statement)} />
        </div>
        <Editor
          label="Graph language"
          value={text}
          onChange={setText}
          onRun={() => start()}
          language={language}
          hint="{ find(func: …) { … } }  Ctrl+Space completes, Ctrl+Enter runs, Escape then Tab leaves"
        />
        {statement.kind === 'query' && statement.variables && (
          <div className="variables">
            <h2>Variables</h2>
            <Editor
              label="Variables as JSON"
              value={variables}
              onChange={setVariables}
              onRun={() => start()}
              hint={'{"$name": "value"}'}
              lines={false}
            />
          </div>
        )}
      </div>
      <div className="answer">
        <div className="toolbar">
          <Tabs label="Result as" tabs={VIEWS} at={view} onChange={setView} />
          <span className="gap" />
          {ran && !failure && <span className="took">{duration(ran.ms)}</span>}
        </div>
        {ran && !failure && <Unknown names={ran.answer.extensions?.unknown} />}
        <div className="result-body" aria-busy={running}>
          {failure ? (
            <Failure error={failure} />
          ) : ran ? (
            <Result
              ran={ran}
              view={view}
              schema={known.current}
              typePredicate={info?.typePredicate ?? 'service.type'}
            />
          ) : (
            <Start schema={schema.value} typePredicate={info?.typePredicate ?? 'service.type'} onPick={take} />
          )}
        </div>
        {ran && !failure && <LatencySplit ran={ran} />}
      </div>
    </div>
  );
}

/** What the query asks for and nothing has: a slip, or data that is still to come. */
function Unknown({ names = [] }: { names: readonly string[] | undefined }) {
  if (names.length === 0) return null;
  return (
    <p className="remark" role="status">
      Nothing was ever stored under {names.map((name) => `“${name}”`).join(', ')}: check the spelling in the Schema
      pane.
    </p>
  );
}

function Result({
  ran,
  view,
  schema,
  typePredicate,
}: {
  ran: Ran;
  view: string;
  schema: GraphSchema;
  typePredicate: string;
}) {
  if (view === 'picture') {
    return (
      <Suspense fallback={<p className="loading">Loading…</p>}>
        <Picture ran={ran} schema={schema} typePredicate={typePredicate} />
      </Suspense>
    );
  }
  if (view === 'json') {
    return <Editor label="Answer as JSON" value={JSON.stringify(ran.answer, null, 2)} language={json()} readOnly />;
  }
  return <ResultTable data={ran.answer.data} />;
}

function History({ past, onPick }: { past: readonly string[]; onPick(text: string): void }) {
  return (
    <select
      aria-label="History"
      className="history"
      value=""
      disabled={past.length === 0}
      onChange={(event) => onPick(past[Number(event.target.value)])}
    >
      <option value="">History</option>
      {past.map((text, i) => (
        <option key={text} value={i}>
          {text.replace(/\s+/g, ' ').slice(0, 70)}
        </option>
      ))}
    </select>
  );
}

/** Before the first run: queries that this very graph can answer. */
interface StartProps {
  readonly schema: GraphSchema | undefined;
  readonly typePredicate: string;
  onPick(sample: Sample): void;
}

function Start({ schema, typePredicate, onPick }: StartProps) {
  if (!schema) return <p className="loading">Reading the schema…</p>;
  const samples = samplesOf(schema, typePredicate);
  return (
    <Empty title={samples.length > 1 ? 'Ask the graph' : 'The graph is empty'}>
      <p>
        {samples.length > 1
          ? 'Write a query, or begin with one of these:'
          : 'Write a first node with this mutation, or upload type definitions: POST /admin/schema.'}
      </p>
      <ul className="samples">
        {samples.map((sample) => (
          <li key={sample.label}>
            <button type="button" onClick={() => onPick(sample)}>
              <b>{sample.label}</b>
              <code>{sample.text.replace(/\s+/g, ' ').slice(0, 90)}</code>
            </button>
          </li>
        ))}
      </ul>
    </Empty>
  );
}

interface Sample {
  readonly label: string;
  readonly text: string;
  readonly view?: string;
}

function samplesOf(schema: GraphSchema, typePredicate: string): Sample[] {
  const largest = [...schema.types].sort((a, b) => (b.fields?.length ?? 0) - (a.fields?.length ?? 0))[0];
  if (largest) return [...typeSamples(largest, schema, typePredicate), { label: 'The schema', text: 'schema {}' }];
  const predicate = schema.predicates.find(({ predicate: name }) => !isReserved(name));
  if (!predicate) {
    const body = `_:you <name> "You" .\n    _:you <${typePredicate}> "Person" .`;
    return [{ label: 'A first node', text: `{\n  set {\n    ${body}\n  }\n}` }];
  }
  const name = written(predicate.predicate);
  const inner = `uid\n    ${name}${predicate.type === 'uid' ? ' { uid }' : ''}`;
  const text = `{\n  nodes(func: has(${name}), first: 10) {\n    ${inner}\n  }\n}`;
  return [
    { label: `Nodes with ${predicate.predicate}`, text },
    { label: 'The schema', text: 'schema {}' },
  ];
}

function typeSamples({ name, fields = [] }: StoredType, schema: GraphSchema, typePredicate: string): Sample[] {
  const uids = schema.predicates.filter(({ type, predicate }) => type === 'uid' && !isReserved(predicate));
  const edges = uids.filter(({ predicate }) => fields.some((field) => field.name === predicate)).slice(0, 2);
  const show = ['uid', typePredicate, ...labelPredicates(schema).slice(0, 3).map(written)].join(' ');
  const ten = `{\n  nodes(func: type(${name}), first: 10) {\n    uid\n    expand(_all_)\n  }\n}`;
  const lines = edges.map(({ predicate }) => `    ${written(predicate)} { ${show} }`).join('\n');
  const picture = `{\n  nodes(func: type(${name}), first: 100) {\n    ${show}\n${lines}\n  }\n}`;
  return [
    { label: `Ten of ${name}`, text: ten },
    ...(edges.length > 0
      ? [{ label: `${name} and its neighbours, as a picture`, text: picture, view: 'picture' }]
      : []),
  ];
}

function parseVariables(statement: Statement, text: string): Record<string, string> {
  if (statement.kind !== 'query' || !statement.variables || text.trim() === '') return {};
  let parsed: Record<string, unknown>;
  try {
    parsed = JSON.parse(text) as Record<string, unknown>;
  } catch {
    throw new Error('the variables are not JSON: write {"$name": "value"}');
  }
  return Object.fromEntries(Object.entries(parsed).map(([name, value]) => [name, String(value)]));
}

function curlOf(text: string, statement: Statement): string {
  const path = statement.kind === 'query' ? '/query' : '/mutate?commitNow=true';
  const type = statement.kind === 'query' ? 'application/dql' : statement.contentType;
  const key = apiKey() === '' ? '' : ` \\\n  -H "Authorization: Bearer $GRAPHSTEAD_API_KEY"`;
  return `curl '${location.origin}${path}' \\\n  -H 'Content-Type: ${type}'${key} \\\n  --data-raw '${text.replaceAll("'", `'\\''`)}'`;
}
