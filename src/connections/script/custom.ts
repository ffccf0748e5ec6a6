import { type HttpCall, type HttpReply, sendReply } from './http.js';
import { Replies, type Script } from './script.js';
import { openScriptedServer } from './server.js';

/** Replies one after the other, or a function of what was asked. */
export type CustomScript = Script<CustomCall, HttpReply>;

/** One call of custom logic that a script answered. */
export interface CustomCall extends Omit<HttpCall, 'connection'> {
  /** of the script: what `path` stands behind */
  readonly address: string;
}

interface ScriptedCustom {
  readonly calls: readonly CustomCall[];
  /** Where a call of custom logic goes: to its script, where its address has one. */
  outgoing(url: string): string;
  close(): Promise<void>;
}

/**
 * What the custom logic of type definitions calls, answered from scripts.
 * @param scripts by the address that they begin with: of two that hold, the longer one
 */
export async function openScriptedCustom(scripts: Readonly<Record<string, CustomScript>>): Promise<ScriptedCustom> {
  const replies = new Replies('address', scripts);
  const server = await openScriptedServer(async ({ name: address, path, request, body }, response) => {
    const headers = request.headers as Record<string, string>;
    await sendReply(
      response,
      await replies.to(address, { address, method: request.method ?? '', path, headers, body }),
    );
  });
  const addresses = Object.keys(scripts).sort((a, b) => b.length - a.length);
  return {
    calls: replies.calls,
    outgoing(url) {
      const address = addresses.find((each) => begins(url, each));
      return address === undefined ? url : server.baseUrl(address).replace(/\/$/, '') + url.slice(address.length);
    },
    close: () => server.close(),
  };
}

/** Whether the address is the url's beginning, up to the end of a part of it. */
function begins(url: string, address: string): boolean {
  return url.startsWith(address) && (address.endsWith('/') || /^(?:$|[/?#])/.test(url.slice(address.length)));
}
