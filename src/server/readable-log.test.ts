import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { readableLog } from './readable-log.js';

describe('the log for people', () => {
  it('says what was said, and where, in one line', () => {
    const lines: string[] = [];
    const log = pino({ level: 'info' }, readableLog({ write: (line) => void lines.push(line) }));
    log.info({ operation: 'addNote', requestId: 'r1' }, 'three notes');
    log.warn('a variable is missing');
    log.error({ agentId: 'agent_1' }, 'onTerminate failed');
    expect(lines).toEqual([
      'three notes  (operation addNote)\n',
      'warning: a variable is missing\n',
      'error: onTerminate failed  (agentId agent_1)\n',
    ]);
  });

  it('shows the stack of a mistake of the service itself', () => {
    const lines: string[] = [];
    const log = pino({}, readableLog({ write: (line) => void lines.push(line) }));
    log.error({ err: new Error('boom') }, 'request failed');
    expect(lines.join()).toMatch(/^error: request failed: Error: boom\n\s+at /);
  });
});
