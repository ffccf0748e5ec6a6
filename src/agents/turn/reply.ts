import type { IdempotencyClaim } from '../../commit/index.js';
import type { Job } from '../job.js';

/** A reply as it is stored under an idempotency key. */
export function encodeReply(reply: string | undefined): Uint8Array {
  return Buffer.from(JSON.stringify({ reply }), 'utf8');
}

export function decodeReply(bytes: Uint8Array): string | undefined {
  return (JSON.parse(Buffer.from(bytes).toString('utf8')) as { reply?: string }).reply;
}

/** How a checkpoint of a message with a key is stored, for a run that follows when it is sent again: `checkpointsOf` reads it. */
export function checkpointClaim(job: Job, calls: number): IdempotencyClaim | undefined {
  const claim = nthCheckpoint(job, job.checkpoints ?? 0);
  return claim && { ...claim, reply: Buffer.from(String(calls)) };
}

/** A checkpoint that so many calls came before has landed. */
export function landed(job: Job, calls: number): void {
  job.calls = calls;
  job.checkpoints = (job.checkpoints ?? 0) + 1;
}

/** Notes on the job what an earlier run under its key has done. */
export async function checkpointsOf(
  job: Job,
  replyOf: (claim: NonNullable<Job['claim']>) => Promise<Uint8Array | undefined>,
): Promise<void> {
  for (;;) {
    const claim = nthCheckpoint(job, job.checkpoints ?? 0);
    const calls = claim && (await replyOf(claim));
    if (calls === undefined) return;
    landed(job, Number(Buffer.from(calls)));
  }
}

function nthCheckpoint({ claim }: Job, n: number): Job['claim'] {
  return claim && { ...claim, scope: `checkpoint ${n} ${claim.scope}` };
}
