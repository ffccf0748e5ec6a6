import { ask } from '../http';
import type { Statement } from './statement';

export interface Latency {
  readonly parsing_ns?: number;
  readonly processing_ns?: number;
  readonly encoding_ns?: number;
  readonly assign_timestamp_ns?: number;
  readonly total_ns?: number;
}

export interface Answer {
  readonly data: Readonly<Record<string, unknown>>;
  readonly extensions?: {
    readonly server_latency?: Latency;
    /** predicates that nobody declared or wrote */
    readonly unknown?: readonly string[];
    readonly txn?: { readonly start_ts?: number; readonly commit_ts?: number };
  };
}

export interface Ran {
  readonly text: string;
  readonly statement: Statement;
  readonly variables: Readonly<Record<string, string>>;
  readonly answer: Answer;
  /** as the page measured it, the way there and back included */
  readonly ms: number;
}

export async function run(
  text: string,
  statement: Statement,
  variables: Readonly<Record<string, string>>,
): Promise<Ran> {
  const from = performance.now();
  const answer =
    statement.kind === 'query'
      ? await query(text, variables)
      : await ask<Answer>('/mutate?commitNow=true', {
          method: 'POST',
          headers: { 'content-type': statement.contentType },
          body: text,
        });
  return { text, statement, variables, answer, ms: performance.now() - from };
}

export function query(
  text: string,
  variables: Readonly<Record<string, string>> = {},
  parameters = '',
): Promise<Answer> {
  return ask<Answer>(`/query${parameters}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: text, variables }),
  });
}
