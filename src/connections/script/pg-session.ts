import type { Socket } from 'node:net';
import { codeOf } from '../../base/index.js';
import { PgReader, PgWriter } from './pg-message.js';
import { type Columns, columnsOf, textOfValue } from './pg-value.js';

type Rows = readonly Readonly<Record<string, unknown>>[];
type Outcome = Rows | number | Error;

/** Answers one statement sent to a database. */
type Execute = (database: string, text: string, parameters: readonly (string | null)[]) => Promise<Outcome>;

const SSL_REQUEST = 80_877_103;
const CANCEL_REQUEST = 80_877_102;
/** none, open, failed: as the server tells them with each end of a request */
type TransactionStatus = 'I' | 'T' | 'E';

/** One client of a database that answers from a script: as much of PostgreSQL's protocol (3.0) as its clients need for that. */
export class PgSession {
  readonly #reader = new PgReader();
  readonly #out = new PgWriter();
  #database: string | undefined;
  #status: TransactionStatus = 'I';
  #text = '';
  #parameters: readonly (string | null)[] = [];
  #outcome: Outcome | undefined;
  /** behind a mistake, everything up to the next Sync is passed over */
  #skips = false;
  #working: Promise<void> = Promise.resolve();

  constructor(
    readonly socket: Socket,
    readonly execute: Execute,
  ) {
    socket.on('data', (bytes) => {
      this.#reader.take(bytes);
      this.#working = this.#working.then(() => this.#work()).catch(() => void socket.destroy());
    });
  }

  async #work(): Promise<void> {
    for (;;) {
      const message = this.#database === undefined ? this.#reader.startup() : this.#reader.next();
      if (message === undefined) break;
      if (this.#database === undefined) this.#start(message.body);
      else if (!this.#skips || message.type === 'S') await this.#answer(message.type, message.body);
    }
    this.socket.write(this.#out.take());
  }

  #start(body: Buffer): void {
    const version = body.readInt32BE(0);
    if (version === CANCEL_REQUEST) this.socket.destroy();
    else if (version === SSL_REQUEST) this.socket.write('N');
    else {
      const parts = body.toString('utf8', 4).split('\0');
      this.#database = parts[parts.indexOf('database') + 1];
      this.#out.message('R').int32(0).end();
      this.#ready();
    }
  }

  async #answer(type: string, body: Buffer): Promise<void> {
    switch (type) {
      case 'Q':
        this.#text = body.toString('utf8', 0, body.length - 1);
        this.#parameters = [];
        this.#outcome = undefined;
        // asked by the client itself, which wants to know whether a transaction is open
        if (this.#text === '') this.#out.message('I').end();
        else if (await this.#run()) this.#told(true);
        this.#skips = false;
        this.#ready();
        return;
      case 'P':
        this.#text = body.toString('utf8').split('\0')[1];
        this.#out.message('1').end();
        return;
      case 'B':
        this.#parameters = parametersOf(body);
        this.#outcome = undefined;
        this.#out.message('2').end();
        return;
      case 'D':
        if (await this.#run()) this.#described();
        return;
      case 'E':
        if (await this.#run()) this.#told(false);
        return;
      case 'C':
        this.#out.message('3').end();
        return;
      case 'S':
        this.#skips = false;
        this.#ready();
        return;
      case 'X':
        this.socket.end();
    }
  }

  /** The statement's outcome, asked for once; false where it failed, which is told. */
  async #run(): Promise<boolean> {
    if (this.#command() !== undefined) return true;
    if (this.#status === 'E') {
      return this.#failed(Object.assign(new Error('current transaction is aborted'), { code: '25P02' }));
    }
    this.#outcome ??= await this.execute(this.#database ?? '', this.#text, this.#parameters).catch((error: unknown) =>
      error instanceof Error ? error : new Error(String(error)),
    );
    return this.#outcome instanceof Error ? this.#failed(this.#outcome) : true;
  }

  #failed(error: Error): false {
    const code = codeOf(error) ?? '';
    const state = /^[0-9A-Z]{5}$/.test(code) ? code : 'XX000';
    const fields = ['SERROR', 'VERROR', `C${state}`, `M${error.message}`];
    const message = this.#out.message('E');
    for (const field of fields) message.text(field);
    message.byte(0).end();
    if (this.#status === 'T') this.#status = 'E';
    this.#skips = true;
    return false;
  }

  #columns(): Columns | undefined {
    return Array.isArray(this.#outcome) ? columnsOf(this.#outcome as Rows) : undefined;
  }

  #described(): void {
    const columns = this.#columns();
    if (columns === undefined) {
      this.#out.message('n').end();
      return;
    }
    const message = this.#out.message('T').int16(columns.length);
    for (const { name, type } of columns) {
      message.text(name).int32(0).int16(0).int32(type).int16(-1).int32(-1).int16(0);
    }
    message.end();
  }

  /** @param described whether its columns come first, as in a simple query */
  #told(described: boolean): void {
    const command = this.#command();
    if (command !== undefined) {
      this.#complete(this.#status === 'E' && command === 'COMMIT' ? 'ROLLBACK' : command);
      this.#status = command === 'BEGIN' ? 'T' : 'I';
      return;
    }
    const columns = this.#columns();
    if (columns === undefined) {
      this.#complete(`UPDATE ${this.#outcome as number}`);
      return;
    }
    if (described) this.#described();
    const rows = this.#outcome as Rows;
    for (const row of rows) {
      const message = this.#out.message('D').int16(columns.length);
      for (const { name } of columns) message.value(textOfValue(row[name]));
      message.end();
    }
    this.#complete(`SELECT ${rows.length}`);
  }

  #complete(tag: string): void {
    this.#out.message('C').text(tag).end();
  }

  #command(): string | undefined {
    return /^\s*(BEGIN|COMMIT|ROLLBACK)\s*;?\s*$/i.exec(this.#text)?.[1].toUpperCase();
  }

  #ready(): void {
    this.#out.message('Z').byte(this.#status.charCodeAt(0)).end();
  }
}

/** Of a Bind message: behind the names of portal and statement come formats, then values. Binary ones are shown in hex. */
function parametersOf(body: Buffer): readonly (string | null)[] {
  let at = body.indexOf(0, body.indexOf(0) + 1) + 1;
  const int16 = (): number => body.readInt16BE((at += 2) - 2);
  const formats = Array.from({ length: int16() }, int16);
  return Array.from({ length: int16() }, (_, index) => {
    const length = body.readInt32BE((at += 4) - 4);
    if (length === -1) return null;
    const value = body.subarray(at, (at += length));
    const format = formats.length === 1 ? formats[0] : (formats[index] ?? 0);
    return format === 0 ? value.toString('utf8') : `\\x${value.toString('hex')}`;
  });
}
