import { resolve } from 'node:path';
import { dataFolder } from '../app-dir.js';
import { checkApp } from '../doctor/app.js';
import type { Finding } from '../doctor/finding.js';
import { checkSecrets } from '../doctor/secret.js';
import { checkDisk, checkNode } from '../doctor/machine.js';
import { checkStore } from '../doctor/store.js';
import { type CommonOptions, runCommand } from '../report.js';
import { storeAddress } from '../store-address.js';

interface DoctorCommand extends CommonOptions {
  readonly data?: string;
  readonly store?: string;
}

const MARK: Readonly<Record<Finding['status'], string>> = { good: 'ok  ', warning: 'warn', bad: 'BAD ' };

/** `graphstead doctor`: looks at machine, app and store, and changes nothing. Exit code 1 when something is bad. */
export function doctorCommand(appDir: string | undefined, options: DoctorCommand): Promise<void> {
  const run = async () => {
    const app = resolve(appDir ?? '.');
    const data = dataFolder(options.data, app);
    const address = storeAddress(options.store);
    const [findings, store] = await Promise.all([checkApp(app), checkStore(data, address)]);
    const all = [checkNode(), checkDisk(data), ...findings, ...checkSecrets(app), ...store];
    if (all.some(({ status }) => status === 'bad')) process.exitCode = 1;
    return { findings: all };
  };
  return runCommand(options, run, ({ findings }) => findings.map(line).join('\n'));
}

function line({ check, status, message, fix }: Finding): string {
  return `  ${MARK[status]}  ${check.padEnd(20)} ${message}${fix ? `\n${' '.repeat(29)}fix: ${fix}` : ''}`;
}
