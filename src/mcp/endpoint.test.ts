import { buildSchema } from 'graphql';
import { expect, it, vi } from 'vitest';
import type { RequestContext } from '../api/index.js';
import { DEFAULT_LIMITS } from '../base/index.js';
import { createMcp } from './index.js';

it('tells the log what a tool threw, and the client only that it failed', async () => {
  const onError = vi.fn();
  const schema = buildSchema('type Query { one: Int }');
  const execute = () => Promise.reject(new Error('a secret of the inside'));
  const mcp = createMcp({
    api: { execute, operations: () => [], schema: () => schema },
    limits: DEFAULT_LIMITS,
    version: '1',
    onError,
  });
  const params = { name: 'graphql_query', arguments: { query: '{ one }' } };
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const request = new Request('http://localhost/mcp', { method: 'POST', headers });
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
  const answer = await (await mcp.answer(request, body, {} as RequestContext)).text();
  expect(answer).toContain('graphql_query failed; the log says why');
  expect(answer).not.toContain('secret');
  expect(onError).toHaveBeenCalledWith(expect.objectContaining({ message: 'a secret of the inside' }));
  await mcp.close();
});
