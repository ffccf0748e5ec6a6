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
  if (errors && errors.length > 0) return partly(errors.map(sentence), data);
  return { text: text(data ?? {}, json), data: data ?? {} };
}

/** The mistakes, and what could be answered or was done beside them: most clients show a model the text alone. */
function partly(mistakes: readonly string[], data: Result['data']): ToolAnswer {
  if (!data) return refusal(mistakes.join('\n'));
  const isAnswered = Object.values(data).some((value) => value !== null);
  const answered = isAnswered ? [`The rest of the answer: ${JSON.stringify(data)}`] : [];
  return { ...refusal([...mistakes, ...answered].join('\n')), data };
}

export const refusal = (text: string): ToolAnswer => ({ text, isError: true });

function sentence({ message, extensions: { code, fix } = {} }: Failure): string {
  return `${code ? `${code}: ` : ''}${message}${fix ? ` (${fix})` : ''}`;
}
