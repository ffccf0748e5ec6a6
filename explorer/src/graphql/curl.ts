import { apiKey } from '../http';

/** The request as a command for a POSIX shell. The key stands as a variable, so that it does not end in a history. */
export function curlOf(query: string, variables: string, headers: string): string {
  const body: Record<string, unknown> = { query };
  const parsed = jsonOf(variables);
  if (parsed !== undefined) body['variables'] = parsed;
  const streaming = /^\s*subscription\b/m.test(query);
  const own = Object.entries((jsonOf(headers) as Record<string, unknown> | undefined) ?? {});
  return [
    `curl ${streaming ? '-N ' : ''}${quoted(`${location.origin}/graphql`)}`,
    `-H 'Content-Type: application/json'`,
    ...(streaming ? [`-H 'Accept: text/event-stream'`] : []),
    ...(apiKey() === '' ? [] : [`-H "Authorization: Bearer $GRAPHSTEAD_API_KEY"`]),
    ...own.map(([name, value]) => `-H ${quoted(`${name}: ${String(value)}`)}`),
    `--data-raw ${quoted(JSON.stringify(body))}`,
  ].join(' \\\n  ');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function jsonOf(text: string): unknown {
  try {
    return text.trim() === '' ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
