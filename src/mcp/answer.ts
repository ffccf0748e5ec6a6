import { parseJson } from '../base/index.js';
import type { GraphqlAnswer } from '../api/index.js';
import type { ToolAnswer } from './contract.js';

interface Result {
  readonly data?: Readonly<Record<string, unknown>> | null;
  readonly errors?: readonly Failure[];
}

interface Failure {
  readonly message: string;
  readonly extensions?: { readonly code?: string; readonly fix?: string };
}

/** What GraphQL answered, for a model: mistakes as sentences it can act on, and `text` of the data where there are none. */
export function answerOf(
  { body }: GraphqlAnswer,
  text: (data: Record<string, unknown>, json: string) => string,
): ToolAnswer {
  const json = body.toString('utf8');
  // integers beyond 2^53 become text, which keeps every digit
  const { data, errors } = (parseJson(json)?.value ?? {}) as Result;
  if (errors && errors.length > 0) return { ...refusal(errors.map(sentence).join('\n')), ...(data ? { data } : {}) };
  return { text: text(data ?? {}, json), data: data ?? {} };
}

export const refusal = (text: string): ToolAnswer => ({ text, isError: true });

function sentence({ message, extensions: { code, fix } = {} }: Failure): string {
  return `${code ? `${code}: ` : ''}${message}${fix ? ` (${fix})` : ''}`;
}
