import { useState } from 'react';
import type {
  ExplorerField,
  ExplorerOperation,
  ExplorerSchema,
  ExplorerType,
} from '../../../src/server/explorer-schema-info';
import { ask } from '../http';
import { type GraphSchema, isReserved, type Predicate, readSchema } from '../query/schema';
import type { PaneProps } from '../shell/pane';
import { useLoaded } from '../shell/hooks';
import { Badge, Empty, Failure, Scroll, Table, Tabs } from '../shell/parts';

interface Size {
  readonly keys: number;
  readonly bytes: number;
  /** it holds more than was counted */
  readonly more: boolean;
}

interface PredicateSize {
  readonly predicate: string;
  readonly parts: Readonly<Record<string, Size>>;
}

interface Building {
  readonly predicate: string;
  readonly kinds: readonly string[];
  readonly done: number;
  readonly total: number;
}

export default function SchemaPane({ active }: PaneProps) {
  const [at, setAt] = useState('types');
  const [filter, setFilter] = useState('');
  const graph = useLoaded(readSchema, { active, everyMs: 5_000 });
  const served = useLoaded(() => ask<ExplorerSchema>('/explorer/api/schema'), { active, everyMs: 10_000 });
  const health = useLoaded(async () => (await ask<{ indexingProgress: Building[] }[]>('/health'))[0].indexingProgress, {
    active,
    everyMs: 1_000,
  });
  const sizes = useLoaded(() => ask<PredicateSize[]>('/explorer/api/sizes'), {
    active: active && at === 'predicates',
    everyMs: 15_000,
  });
  const error = graph.error ?? served.error;
  const predicates = graph.value?.predicates ?? [];
  const tabs = [
    { id: 'types', label: 'GraphQL types', count: served.value?.types.length },
    {
      id: 'predicates',
      label: 'Predicates',
      count: graph.value ? predicates.filter((one) => !isReserved(one.predicate)).length : undefined,
    },
    { id: 'operations', label: 'Operations', count: served.value?.operations.length },
  ];
  return (
    <div className="page">
      <div className="toolbar">
        <Tabs label="Schema" tabs={tabs} at={at} onChange={setAt} />
        <span className="gap" />
        <input
          type="search"
          placeholder="Filter"
          aria-label="Filter by name"
          value={filter}
          onChange={(event) => setFilter(event.target.value)}
        />
      </div>
      <Scroll label="Schema">
        {error && <Failure error={error} />}
        {at === 'types' && served.value && <Types served={served.value} graph={graph.value} filter={filter} />}
        {at === 'predicates' && graph.value && (
          <Predicates
            graph={graph.value}
            served={served.value}
            sizes={sizes.value ?? []}
            building={health.value ?? []}
            filter={filter}
          />
        )}
        {at === 'operations' && served.value && <Operations served={served.value} filter={filter} />}
      </Scroll>
    </div>
  );
}

function matches(filter: string, ...names: (string | undefined)[]): boolean {
  const sought = filter.trim().toLowerCase();
  return sought === '' || names.some((name) => name?.toLowerCase().includes(sought));
}

function Types({ served, graph, filter }: { served: ExplorerSchema; graph: GraphSchema | undefined; filter: string }) {
  if (served.text === null) {
    return (
      <Empty title="No GraphQL types yet">
        <p>Upload type definitions, and this page shows each field beside the predicate that stores it:</p>
        <pre>{`curl ${location.origin}/admin/schema --data-binary '
type Person {
  id: ID!
  name: String! @search(by: [term])
  friends: [Person!]
}'`}</pre>
      </Empty>
    );
  }
  const stored = new Map(graph?.predicates.map((one) => [one.predicate, one]));
  const shown = served.types.filter((type) => matches(filter, type.name, ...type.fields.map((field) => field.name)));
  if (shown.length === 0) return <NothingMatches />;
  return shown.map((type) => <TypeCard key={type.name} type={type} stored={stored} />);
}

function TypeCard({ type, stored }: { type: ExplorerType; stored: ReadonlyMap<string, Predicate> }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: without it a keyboard cannot scroll
    <section className="card" tabIndex={0} aria-label={type.name}>
      <header>
        <h2>{type.name}</h2>
        <Badge>{type.remote ? 'remote' : type.kind}</Badge>
        {type.storedName && type.storedName !== type.name && <span className="note">stored as {type.storedName}</span>}
        {type.implements.length > 0 && <span className="note">implements {type.implements.join(', ')}</span>}
        {type.members.length > 0 && <span className="note">{type.members.join(' | ')}</span>}
      </header>
      {type.description && <p className="description">{type.description}</p>}
      {type.fields.length > 0 && (
        <table>
          <colgroup>
            <col className="field-name" />
            <col className="field-type" />
            <col className="field-predicate" />
            <col className="field-stored" />
            <col />
          </colgroup>
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">GraphQL type</th>
              <th scope="col">Predicate</th>
              <th scope="col">Stored as</th>
              <th scope="col">Search</th>
            </tr>
          </thead>
          <tbody>
            {type.fields.map((field) => (
              <FieldRow
                key={field.name}
                field={field}
                predicate={stored.get(field.predicate ?? '')}
                remote={type.remote}
              />
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

const ROLE: Readonly<Partial<Record<ExplorerField['role'], string>>> = {
  id: 'the uid',
  custom: 'custom logic',
  remote: 'not stored',
  external: 'another service',
};

function FieldRow({
  field,
  predicate,
  remote,
}: {
  field: ExplorerField;
  predicate: Predicate | undefined;
  remote: boolean;
}) {
  return (
    <tr title={field.description}>
      <th scope="row">
        {field.name} {field.unique && <Badge tone="accent">@id</Badge>}
      </th>
      <td>
        <code>{field.type}</code>
      </td>
      <td>
        {field.predicate ? (
          <code>
            {field.reverse ? '~' : ''}
            {field.predicate}
          </code>
        ) : (
          <span className="none">{remote ? 'not stored' : ROLE[field.role]}</span>
        )}
        {field.inverse && <span className="note"> inverse of {field.inverse}</span>}
      </td>
      <td>{predicate && <code>{typeOf(predicate)}</code>}</td>
      <td>{field.search.join(', ')}</td>
    </tr>
  );
}

function typeOf({ type, list }: Predicate): string {
  return list ? `[${type}]` : type;
}

interface PredicatesProps {
  readonly graph: GraphSchema;
  readonly served: ExplorerSchema | undefined;
  readonly sizes: readonly PredicateSize[];
  readonly building: readonly Building[];
  readonly filter: string;
}

function Predicates({ graph, served, sizes, building, filter }: PredicatesProps) {
  const [reserved, setReserved] = useState(false);
  const sized = new Map(sizes.map(({ predicate, parts }) => [predicate, parts]));
  const fields = new Map<string, string[]>();
  for (const type of served?.types ?? []) {
    for (const { predicate, name } of type.fields) {
      if (predicate) fields.set(predicate, [...(fields.get(predicate) ?? []), `${type.name}.${name}`]);
    }
  }
  const shown = graph.predicates.filter(
    (one) => (reserved || !isReserved(one.predicate)) && matches(filter, one.predicate),
  );
  return (
    <>
      {shown.length === 0 &&
        (filter ? (
          <NothingMatches />
        ) : (
          <Empty title="No predicates yet">
            <p>They come with the first mutation, with POST /alter, or with type definitions.</p>
          </Empty>
        ))}
      {shown.length > 0 && (
        <Table columns={['Predicate', 'Type', 'Data', 'Indexes', 'Directives', 'GraphQL field']}>
          {shown.map((one) => (
            <tr key={one.predicate}>
              <th scope="row">
                <code>{one.predicate}</code>
              </th>
              <td>
                <code>{typeOf(one)}</code>
              </td>
              <td className="number">{sizeText(sized.get(one.predicate)?.['data'])}</td>
              <td>
                <Indexes predicate={one} sizes={sized.get(one.predicate)} />
                {building
                  .filter((build) => build.predicate === one.predicate)
                  .map((build) => (
                    <Progress key={build.kinds.join()} build={build} />
                  ))}
              </td>
              <td>{directives(one)}</td>
              <td>{(fields.get(one.predicate) ?? []).join(', ')}</td>
            </tr>
          ))}
        </Table>
      )}
      <label className="check">
        <input type="checkbox" checked={reserved} onChange={(event) => setReserved(event.target.checked)} /> Show the
        service’s own
      </label>
      {graph.types.length > 0 && <StoredTypes graph={graph} filter={filter} />}
    </>
  );
}

/** Each index with what it takes; edges that are followed backwards are one too. */
function Indexes({ predicate, sizes }: { predicate: Predicate; sizes: PredicateSize['parts'] | undefined }) {
  const kinds = [
    ...(predicate.tokenizer ?? []),
    ...(predicate.reverse ? ['reverse'] : []),
    ...(predicate.count ? ['count'] : []),
  ];
  return kinds.map((kind) => (
    <span key={kind} className="index">
      {kind} <span className="note">{sizeText(sizes?.[kind])}</span>
    </span>
  ));
}

function sizeText(size: Size | undefined): string {
  if (size === undefined) return '';
  return `${size.more ? 'over ' : ''}${bytesText(size.bytes)}`;
}

function bytesText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(bytes < 10 * 1024 ? 1 : 0)} KiB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}

function directives(one: Predicate): string {
  const names = ['reverse', 'count', 'upsert', 'unique', 'lang'] as const;
  return names
    .filter((name) => one[name])
    .map((name) => `@${name}`)
    .join(' ');
}

/** In the row that it belongs to, so that nothing moves when it begins and ends. */
function Progress({ build: { predicate, kinds, done, total } }: { build: Building }) {
  const share = total > 0 ? Math.min(1, done / total) : undefined;
  return (
    <span className="progress">
      <progress value={share} max={1} aria-label={`Index of ${predicate}`} />
      <span>
        building {kinds.join(', ')}
        {share === undefined ? '' : ` ${Math.round(share * 100)} %`}
      </span>
    </span>
  );
}

function StoredTypes({ graph, filter }: { graph: GraphSchema; filter: string }) {
  const shown = graph.types.filter((type) => matches(filter, type.name));
  if (shown.length === 0) return null;
  return (
    <Table caption="Types of the graph language" columns={['Type', 'Predicates that expand(_all_) follows']}>
      {shown.map(({ name, fields = [] }) => (
        <tr key={name}>
          <th scope="row">{name}</th>
          <td className="wrap">{fields.map((field) => field.name).join(', ')}</td>
        </tr>
      ))}
    </Table>
  );
}

const FROM: Readonly<Record<ExplorerOperation['from'], { label: string; tone: 'plain' | 'good' | 'accent' | 'warn' }>> =
  {
    type: { label: 'type', tone: 'plain' },
    custom: { label: 'custom logic', tone: 'warn' },
    function: { label: 'function', tone: 'accent' },
    service: { label: 'service', tone: 'good' },
  };

function Operations({ served, filter }: { served: ExplorerSchema; filter: string }) {
  const shown = served.operations.filter((one) => matches(filter, one.name, one.source, FROM[one.from].label));
  if (served.refused)
    return (
      <Empty title="Operations cannot be listed">
        <p>{served.refused}</p>
      </Empty>
    );
  if (served.operations.length === 0) {
    return (
      <Empty title="No operations yet">
        <p>
          Each type definition brings get, query, add, update and delete; an exported function of an app brings one
          operation.
        </p>
      </Empty>
    );
  }
  if (shown.length === 0) return <NothingMatches />;
  return (['query', 'mutation', 'subscription'] as const).map((kind) => {
    const list = shown.filter((one) => one.kind === kind);
    if (list.length === 0) return null;
    return (
      <Table
        key={kind}
        className="operations"
        caption={kind}
        count={list.length}
        columns={['Operation', 'Comes from', 'Arguments', 'Result']}
      >
        {list.map((one) => (
          <tr key={one.name} title={one.description}>
            <th scope="row">{one.name}</th>
            <td>
              <Badge tone={FROM[one.from].tone}>{FROM[one.from].label}</Badge> {one.source}
            </td>
            <td className="wrap">
              <code>{one.args.map(({ name, type }) => `${name}: ${type}`).join(', ')}</code>
            </td>
            <td className="wrap">
              <code>{one.result}</code>
            </td>
          </tr>
        ))}
      </Table>
    );
  });
}

function NothingMatches() {
  return (
    <Empty title="Nothing matches the filter">
      <p>Clear it to see all.</p>
    </Empty>
  );
}
