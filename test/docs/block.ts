/** A fenced block of a page. */
export interface Block {
  readonly language: string;
  readonly text: string;
  /** of its first line of text, from 1 */
  readonly line: number;
  /** why it is not run: `<!-- not run: reason -->` right above it */
  readonly reason?: string;
  /** the file of an app that it is: `<!-- file: functions/a.ts -->` right above it */
  readonly file?: string;
  /** nothing but an empty line stands between the block before and this one */
  readonly follows: boolean;
}

const FENCE = /^```(\S*)\n([\s\S]*?)^```$/gm;

/** All fenced blocks of a page, in order. */
export function blocksOf(page: string): Block[] {
  let end = -1;
  return [...page.matchAll(FENCE)].map((match) => {
    const { index } = match;
    const before = page.slice(Math.max(0, end), index);
    const reason = /<!-- not run: (.+?) -->\n$/.exec(before)?.[1];
    const file = /<!-- file: (\S+) -->\n$/.exec(before)?.[1];
    const follows = end >= 0 && before.trim() === '';
    end = index + match[0].length;
    const line = page.slice(0, index).split('\n').length + 1;
    return {
      language: match[1],
      text: match[2],
      line,
      follows,
      ...(reason ? { reason } : {}),
      ...(file ? { file } : {}),
    };
  });
}

/** How the page's service is started: `<!-- service: --compat dgraph -->` anywhere in it. */
export function serviceOf(page: string): { compat?: 'dgraph'; grpcPort?: number } {
  return page.includes('<!-- service: --compat dgraph -->') ? { compat: 'dgraph', grpcPort: 0 } : {};
}
