/** Where a person reads the log: a line for what was said, and where it was said. */
interface Line {
  write(line: string): void;
}

const LEVELS: Readonly<Record<number, string>> = { 40: 'warning: ', 50: 'error: ', 60: 'error: ' };
/** What stands in every entry, and says nothing on a terminal. */
const SILENT = new Set(['level', 'time', 'pid', 'hostname', 'msg', 'err', 'requestId']);

/** Turns pino's JSON lines into lines for people: for `dev` on a terminal. `requestId` stays in answers alone. */
export function readableLog(out: Line): Line {
  return {
    write(line) {
      const entry = JSON.parse(line) as Record<string, unknown>;
      const { msg, err } = entry as { msg?: string; err?: { message?: string; stack?: string } };
      const where = Object.entries(entry)
        .filter(([name]) => !SILENT.has(name))
        .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`);
      const said = [msg, err?.stack ?? err?.message].filter(Boolean).join(': ');
      out.write(`${LEVELS[Number(entry['level'])] ?? ''}${said}${where.length > 0 ? `  (${where.join(', ')})` : ''}\n`);
    },
  };
}
