import { type ComponentType, lazy, Suspense, useEffect, useRef, useState } from 'react';
import { ask } from './http';
import { useLoaded, useRoute } from './shell/hooks';
import { KeyDialog } from './shell/key-dialog';
import type { Info, PaneProps } from './shell/pane';

interface Pane {
  readonly id: string;
  readonly label: string;
  readonly icon: string;
  readonly View: ComponentType<PaneProps>;
}

const PANES: readonly Pane[] = [
  {
    id: 'graphql',
    label: 'GraphQL',
    icon: 'M8 1.5 13.6 4.75v6.5L8 14.5 2.4 11.25v-6.5zM8 1.5 2.4 11.25h11.2z',
    View: lazy(graphiql),
  },
  { id: 'query', label: 'Graph language', icon: 'M3 4l4 4-4 4M8.5 12.5H13', View: lazy(() => import('./query/pane')) },
  {
    id: 'data',
    label: 'Data',
    icon: 'M2.5 3h11v10h-11zM2.5 6.3h11M2.5 9.6h11M6.2 6.3V13',
    View: lazy(() => import('./data/pane')),
  },
  {
    id: 'schema',
    label: 'Schema',
    icon: 'M2.5 3h11v3.2h-11zM2.5 9.8h5V13h-5zM9.5 9.8h4V13h-4zM5 6.2v3.6M11.5 6.2v3.6',
    View: lazy(() => import('./schema/pane')),
  },
  {
    id: 'agents',
    label: 'Agents',
    icon: 'M8 2v2.2M4 4.2h8a1.5 1.5 0 0 1 1.5 1.5v5A1.5 1.5 0 0 1 12 12.2H8l-3 2.3v-2.3H4a1.5 1.5 0 0 1-1.5-1.5v-5A1.5 1.5 0 0 1 4 4.2zM6 7.4v1.4M10 7.4v1.4',
    View: lazy(() => import('./agents/pane')),
  },
  {
    id: 'connections',
    label: 'Connections',
    icon: 'M6.2 9.8 3.9 12.1M12.1 3.9 9.8 6.2M5.2 6.6l4.2 4.2-1.6 1.6a3 3 0 0 1-4.2-4.2zM10.8 9.4 6.6 5.2l1.6-1.6a3 3 0 0 1 4.2 4.2z',
    View: lazy(() => import('./connections/pane')),
  },
];

/** GraphiQL's style comes with its pane, so that the first paint of the others does not wait for it. */
async function graphiql() {
  const style = document.createElement('link');
  style.rel = 'stylesheet';
  style.href = document.querySelector<HTMLMetaElement>('meta[name="graphiql-style"]')?.content ?? '';
  const styled = new Promise((done) => {
    style.onload = done;
    style.onerror = done;
  });
  document.head.append(style);
  const [pane] = await Promise.all([import('./graphql/pane'), styled]);
  return pane;
}

export function App() {
  const [route, rest] = useRoute();
  const current = PANES.find((pane) => pane.id === route) ?? PANES[0];
  const [visited, setVisited] = useState<readonly string[]>([]);
  const info = useLoaded(() => ask<Info>('/explorer/api/info'), { active: true });
  const main = useRef<HTMLElement>(null);

  useEffect(() => {
    setVisited((before) => (before.includes(current.id) ? before : [...before, current.id]));
    document.title = `${current.label} · graphstead explorer`;
  }, [current]);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (!event.altKey || event.ctrlKey || event.metaKey) return;
      const pane = PANES[Number(event.code.replace('Digit', '')) - 1];
      if (!pane) return;
      event.preventDefault();
      location.hash = pane.id;
      main.current?.focus();
    };
    window.addEventListener('keydown', press);
    return () => window.removeEventListener('keydown', press);
  }, []);

  return (
    <div className="shell">
      <header className="rail">
        <button type="button" className="skip" onClick={() => main.current?.focus()}>
          Skip to the pane
        </button>
        <h1 className="mark">
          <Mark />
          graphstead
        </h1>
        <nav aria-label="Panes">
          <ul>
            {PANES.map((pane, i) => (
              <li key={pane.id}>
                <a href={`#${pane.id}`} aria-current={pane === current ? 'page' : undefined} title={`Alt+${i + 1}`}>
                  <svg viewBox="0 0 16 16" aria-hidden="true">
                    <path d={pane.icon} />
                  </svg>
                  {pane.label}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <Status version={info.value?.version} />
      </header>
      <main ref={main} tabIndex={-1} aria-label={current.label}>
        {PANES.filter((pane) => pane === current || visited.includes(pane.id)).map(({ id, View }) => (
          <section key={id} className="pane" hidden={id !== current.id}>
            <Suspense fallback={<p className="loading">Loading…</p>}>
              <View active={id === current.id} rest={id === current.id ? rest : ''} info={info.value} />
            </Suspense>
          </section>
        ))}
      </main>
      <KeyDialog />
    </div>
  );
}

function Mark() {
  return (
    <svg viewBox="0 0 16 16" className="logo" aria-hidden="true">
      <path d="M4 4l8 4-6 5" />
      <circle cx="4" cy="4" r="2.4" />
      <circle cx="12" cy="8" r="2.4" />
      <circle cx="6" cy="13" r="2.4" />
    </svg>
  );
}

interface Health {
  readonly status: string;
  readonly lastCommitTs: number;
  readonly indexing: readonly string[];
}

function Status({ version }: { version: string | undefined }) {
  const health = useLoaded(async () => (await ask<Health[]>('/health'))[0], { active: true, everyMs: 5_000 });
  const { value, error } = health;
  const away = error !== undefined;
  return (
    <div className="status" role="status">
      <span className={`dot ${away ? 'bad' : value ? 'good' : ''}`} aria-hidden="true" />
      <span>
        {away ? 'not reachable' : value ? (value.indexing.length > 0 ? 'indexing' : value.status) : 'asking…'}
      </span>
      <span className="version">{version ? `v${version}` : ''}</span>
    </div>
  );
}
