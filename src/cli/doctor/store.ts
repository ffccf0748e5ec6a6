import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compiled } from '../../base/index.js';
import { bad, type Finding, good } from './finding.js';

/** Reads the store in a child process, beside a service that may be running. */
export async function checkStore(data: string): Promise<readonly Finding[]> {
  if (!existsSync(join(data, 'data.mdb'))) return [good('store', `${data} holds no store yet`)];
  const program = fileURLToPath(compiled('cli/doctor/store-child'));
  const child = spawn(process.execPath, [program, data], { stdio: ['ignore', 'pipe', 'pipe'] });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk) => (stdout += chunk));
  child.stderr.on('data', (chunk) => (stderr += chunk));
  const [code, signal] = await new Promise<[number | null, string | null]>((resolve) => {
    child.on('close', (...end) => resolve(end));
  });
  const findings = stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Finding);
  if (code === 0) return findings;
  const how = signal ? `the reading was ended by ${signal}` : `the reading failed: ${stderr.trim().split('\n').at(-1)}`;
  return [...findings, bad('store', `${how}: the file is damaged`, 'keep it, and restore the last backup')];
}
