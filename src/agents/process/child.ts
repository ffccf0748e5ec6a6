import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, openSync, readFileSync, readSync, unlinkSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Transform } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { compiled } from '../../base/index.js';
import type { HostLog } from '../info.js';
import { compact, expanded } from '../compact.js';
import { Pipe } from '../pipe.js';
import { FILE_BYTES, type FromHost, HOST_FD, MARKS_BYTES, type ToHost } from '../protocol.js';

const PROGRAM = fileURLToPath(compiled('agents/host/main'));
/** /proc counts in hundredths of a second */
const CLOCK_TICK_MS = 10;
const PAGE_BYTES = 4096;
/** of one line that an app writes to its output */
const LINE_BYTES = 256 * 1024;
const NEWLINE = Buffer.from('\n');

interface ChildOptions {
  /** working directory */
  readonly dir: string;
  /** the data directory, which can be written where the folder for temporary files cannot */
  readonly data?: string;
  readonly heapMb: number;
  readonly environment: Readonly<Record<string, string>>;
  /** bytes of one message, either way */
  readonly messageBytes: number;
  receive(batch: readonly FromHost[]): void;
  /** a message is too large to go; answers with one that goes instead */
  refused(message: ToHost, error: unknown): ToHost | undefined;
  /** what it said cannot be read: app code changes what all code of its process is made of, or writes where only ours does */
  unreadable(error: unknown): void;
  /** a line that native code or process.stdout wrote */
  line(level: HostLog['level'], text: string): void;
  /** once; the marker can still be read then. `begun` is false where the system gave no process */
  died(how: string, begun: boolean): void;
}

/** A forked process as the operating system has it: its pipe, its marker, and what /proc tells of it. Throws where there is none to have. */
export class Child {
  readonly pipe: Pipe<FromHost, ToHost>;
  readonly exited: Promise<void>;
  readonly #child: ChildProcess;
  readonly #marker: number;

  constructor(options: ChildOptions) {
    this.#marker = openMarker(options.data);
    const child = forked(options, this.#marker);
    this.#child = child;
    const socket = child.stdio[HOST_FD.pipe] as Socket;
    this.pipe = new Pipe<FromHost, ToHost>(socket, {
      messageBytes: options.messageBytes,
      take: (batch) => options.receive(batch),
      refused: (message, error) => options.refused(message, error),
      unreadable: (error) => options.unreadable(error),
      codec: { pack: compact, unpack: (travelled) => expanded(travelled) as FromHost },
    });
    // whoever closes it can be told nothing any more
    socket.once('close', () => this.kill());
    this.exited = new Promise((done) => child.once('exit', () => done()).once('error', () => done()));
    let dead = false;
    const died = (how: string) => {
      if (dead) return;
      dead = true;
      options.died(how, child.pid !== undefined);
      closeSync(this.#marker);
    };
    child.once('exit', (code, signal) => died(signal ?? `exit code ${code}`));
    child.once('error', (error) => died(error.message));
    forward(child.stdout, (text) => options.line('info', text));
    forward(child.stderr, (text) => options.line('warn', text));
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  /** Whose code holds the thread, which task was the last to begin, and whose state is taken, 0 for none that is known; see host/marker.ts. */
  marked(): { readonly holder: number; readonly begun: number; readonly taking: number } {
    const bytes = Buffer.alloc(MARKS_BYTES);
    readSync(this.#marker, bytes, 0, bytes.length, 0);
    return { holder: bytes.readDoubleLE(), begun: bytes.readDoubleLE(8), taking: bytes.readDoubleLE(16) };
  }

  /** The file of the app that is loaded, with what it imports, where that is known. */
  loading(): string | undefined {
    const bytes = Buffer.alloc(FILE_BYTES);
    const read = readSync(this.#marker, bytes, 0, bytes.length, MARKS_BYTES);
    const end = bytes.subarray(0, read).indexOf(0);
    return bytes.toString('utf8', 0, end === -1 ? read : end) || undefined;
  }

  /** Milliseconds of thread time, where the system tells it. */
  threadMs(): number | undefined {
    const stat = this.#proc('stat');
    const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields && (Number(fields[11]) + Number(fields[12])) * CLOCK_TICK_MS;
  }

  /** Where the system tells it. */
  residentBytes(): number | undefined {
    const pages = this.#proc('statm')?.split(' ')[1];
    return pages === undefined ? undefined : Number(pages) * PAGE_BYTES;
  }

  #proc(file: string): string | undefined {
    try {
      return readFileSync(`/proc/${this.#child.pid}/${file}`, 'latin1');
    } catch {
      return undefined;
    }
  }
}

/** It has no name any more: nobody has to take it away. Where there is no folder for temporary files, it lies in `data`. */
function openMarker(data: string | undefined): number {
  try {
    return openNameless(tmpdir());
  } catch (error) {
    if (data === undefined) throw error;
    return openNameless(data);
  }
}

function openNameless(folder: string): number {
  const file = join(folder, `graphstead-marker-${randomUUID()}`);
  const marker = openSync(file, 'w+', 0o600);
  unlinkSync(file);
  return marker;
}

function forked({ heapMb, dir: cwd, environment }: ChildOptions, marker: number): ChildProcess {
  try {
    const child = spawn(process.execPath, [`--max-old-space-size=${heapMb}`, '--enable-source-maps', PROGRAM], {
      stdio: ['ignore', 'pipe', 'pipe', 'pipe', marker],
      cwd,
      env: { ...environment },
    });
    // Where no more files can be opened it has no pipes, and says so to whoever listens.
    if (child.stdio !== undefined) return child;
    child.once('error', () => undefined);
    throw new Error('too many open files');
  } catch (error) {
    closeSync(marker);
    throw error;
  }
}

function forward(output: NodeJS.ReadableStream | null, line: (text: string) => void): void {
  if (output !== null) createInterface({ input: output.pipe(broken()) }).on('line', line);
}

/** Breaks lines that do not end: they would be held here as long as the app writes on. */
function broken(): Transform {
  let open = 0;
  return new Transform({
    transform(chunk: Buffer, _, give) {
      const end = chunk.lastIndexOf(NEWLINE);
      open = end === -1 ? open + chunk.length : chunk.length - end - 1;
      if (open <= LINE_BYTES) return give(null, chunk);
      open = 0;
      give(null, Buffer.concat([chunk, NEWLINE]));
    },
  });
}
