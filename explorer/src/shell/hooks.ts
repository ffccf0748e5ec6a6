import { useCallback, useEffect, useRef, useState } from 'react';

export interface Loaded<T> {
  readonly value?: T;
  readonly error?: Error;
  readonly loading: boolean;
  reload(): void;
}

/** What `load` gives, asked again every `everyMs` while `active`; the last value stays while a new one is on its way. */
export function useLoaded<T>(
  load: () => Promise<T>,
  options: { active: boolean; everyMs?: number; key?: string },
): Loaded<T> {
  const { active, everyMs, key = '' } = options;
  const [state, setState] = useState<{ key: string; value?: T; error?: Error; loading: boolean }>({
    key,
    loading: true,
  });
  const [round, setRound] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  // biome-ignore lint/correctness/useExhaustiveDependencies: `round` asks again
  useEffect(() => {
    if (!active) return;
    let over = false;
    let timer: number | undefined;
    const run = async () => {
      try {
        const value = await latest.current();
        if (!over) setState({ key, value, loading: false });
      } catch (error) {
        if (!over)
          setState((before) => ({ ...(before.key === key ? before : { key }), error: error as Error, loading: false }));
      }
      if (!over && everyMs !== undefined) timer = window.setTimeout(run, everyMs);
    };
    void run();
    return () => {
      over = true;
      window.clearTimeout(timer);
    };
  }, [active, everyMs, key, round]);
  const reload = useCallback(() => setRound((before) => before + 1), []);
  return state.key === key ? { ...state, reload } : { loading: true, reload };
}

/** State that outlives the page, as JSON in localStorage. */
export function useKept<T>(name: string, initial: T): [T, (next: T) => void] {
  const [value, setValue] = useState<T>(() => {
    try {
      const kept = localStorage.getItem(`graphstead.${name}`);
      return kept === null ? initial : (JSON.parse(kept) as T);
    } catch {
      return initial;
    }
  });
  const keep = useCallback(
    (next: T) => {
      setValue(next);
      try {
        localStorage.setItem(`graphstead.${name}`, JSON.stringify(next));
      } catch {
        // a full or forbidden storage must not stop the work
      }
    },
    [name],
  );
  return [value, keep];
}

const DARK = '(prefers-color-scheme: dark)';

export function useDark(): boolean {
  const [dark, setDark] = useState(() => matchMedia(DARK).matches);
  useEffect(() => {
    const query = matchMedia(DARK);
    const change = () => setDark(query.matches);
    query.addEventListener('change', change);
    return () => query.removeEventListener('change', change);
  }, []);
  return dark;
}

/** `#pane/rest` of the address. */
export function useRoute(): [pane: string, rest: string] {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const change = () => setHash(location.hash);
    window.addEventListener('hashchange', change);
    return () => window.removeEventListener('hashchange', change);
  }, []);
  const [pane = '', ...rest] = hash.replace(/^#/, '').split('/');
  return [pane, decodeURIComponent(rest.join('/'))];
}
