import { type KeyboardEvent, type ReactNode, useId, useRef, useState } from 'react';
import { Refusal } from '../http';

/** What stands where nothing is yet: what this is, and what to do next. */
export function Empty({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      <div>{children}</div>
    </div>
  );
}

export function Failure({ error }: { error: Error }) {
  const refusal = error instanceof Refusal ? error : undefined;
  return (
    <div className="failure" role="alert">
      <p>
        {refusal?.code && <code className="code">{refusal.code}</code>} {error.message}
      </p>
      {refusal?.fix && <p className="fix">{refusal.fix}</p>}
    </div>
  );
}

/** A part that scrolls by itself; in the tab order, so that the arrow keys scroll it. */
export function Scroll({ label, children }: { label: string; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: without it a keyboard cannot scroll
    <section className="scroll" tabIndex={0} aria-label={label}>
      {children}
    </section>
  );
}

/** A wide table; with `caption` its name above it, with `count` how many there are. */
export function Table({
  columns,
  caption,
  count,
  className = '',
  children,
}: {
  columns: readonly string[];
  caption?: string;
  count?: number;
  className?: string;
  children: ReactNode;
}) {
  return (
    <table className={`wide ${className}`.trimEnd()}>
      {caption !== undefined && (
        <caption>
          {caption} {count !== undefined && <span className="count">{count}</span>}
        </caption>
      )}
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column} scope="col">
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  );
}

interface PagerProps {
  /** what the pages are of, as in "Next agents" */
  readonly of: string;
  /** where the pages up to the shown one begin */
  readonly pages: readonly string[];
  /** where the next one begins; absent on the last */
  readonly next: string | undefined;
  onChange(pages: readonly string[]): void;
}

/** One page forth or back; nothing where there is one page alone. */
export function Pager({ of, pages, next, onChange }: PagerProps) {
  if (pages.length === 1 && next === undefined) return null;
  return (
    <>
      <button
        type="button"
        aria-label={`Previous ${of}`}
        disabled={pages.length === 1}
        onClick={() => onChange(pages.slice(0, -1))}
      >
        ‹
      </button>
      <span>page {pages.length}</span>
      <button
        type="button"
        aria-label={`Next ${of}`}
        disabled={next === undefined}
        onClick={() => onChange([...pages, next ?? ''])}
      >
        ›
      </button>
    </>
  );
}

export interface Tab {
  readonly id: string;
  readonly label: string;
  readonly count?: number;
}

/** Tabs as the ARIA practices have them: arrow keys move, one stop in the tab order. */
export function Tabs({
  label,
  tabs,
  at,
  onChange,
}: {
  label: string;
  tabs: readonly Tab[];
  at: string;
  onChange(id: string): void;
}) {
  const list = useRef<HTMLDivElement>(null);
  const move = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const from = tabs.findIndex((tab) => tab.id === at);
    const next = tabs[(from + step + tabs.length) % tabs.length];
    onChange(next.id);
    list.current?.querySelector<HTMLElement>(`[data-tab="${next.id}"]`)?.focus();
  };
  return (
    <div className="tabs" role="tablist" aria-label={label} ref={list} onKeyDown={move}>
      {tabs.map((tab) => (
        <button
          key={tab.id}
          type="button"
          role="tab"
          data-tab={tab.id}
          aria-selected={tab.id === at}
          tabIndex={tab.id === at ? 0 : -1}
          onClick={() => onChange(tab.id)}
        >
          {tab.label}
          {tab.count !== undefined && <span className="count">{tab.count}</span>}
        </button>
      ))}
    </div>
  );
}

export function CopyButton({ text, label }: { text: () => string; label: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text());
    setCopied(true);
    setTimeout(() => setCopied(false), 1_500);
  };
  return (
    <button type="button" className="quiet copy" onClick={copy}>
      <span aria-live="polite">{copied ? 'Copied' : label}</span>
    </button>
  );
}

export function Field({ label, children }: { label: string; children: (id: string) => ReactNode }) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children(id)}
    </div>
  );
}

export function Badge({
  tone = 'plain',
  children,
}: {
  tone?: 'plain' | 'good' | 'bad' | 'warn' | 'accent';
  children: ReactNode;
}) {
  return <span className={`badge ${tone}`}>{children}</span>;
}

/** Milliseconds in the unit a person reads. */
export function duration(ms: number): string {
  if (ms < 1) return `${(ms * 1000).toFixed(0)} µs`;
  if (ms < 1_000) return `${ms.toFixed(ms < 10 ? 1 : 0)} ms`;
  if (ms < 120_000) return `${(ms / 1_000).toFixed(1)} s`;
  if (ms < 7_200_000) return `${(ms / 60_000).toFixed(1)} min`;
  return `${(ms / 3_600_000).toFixed(1)} h`;
}

/** `1 turn`, `2 turns` */
export function count(n: number, one: string, many = `${one}s`): string {
  return `${n.toLocaleString()} ${n === 1 ? one : many}`;
}

export function time(iso: string | number): string {
  return new Date(iso).toLocaleTimeString(undefined, { hour12: false });
}
