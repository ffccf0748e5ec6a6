// The README's questions are asked of the loaded example, and must be answered as the README says.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
// @ts-expect-error plain scripts without types
import { startExample } from '../scripts/example.mjs';
// @ts-expect-error plain scripts without types
import { ask, questions } from '../scripts/readme.mjs';

let service: { url: string; stop(): Promise<void> };
beforeAll(async () => {
  service = await startExample();
});
afterAll(() => service?.stop());

describe('README', () => {
  const all = questions() as { language: string; query: string; answer: string }[];

  it('asks five questions', () => {
    expect(all).toHaveLength(5);
  });

  it.each(all)(
    '$language question is answered as printed (node scripts/readme.mjs --write refreshes): $query',
    async (question) => {
      expect(await ask(service.url, question)).toBe(question.answer);
    },
  );
});
