import { join } from 'node:path';
import type { Api } from '../../api/index.js';
import { codeOf, inOneLine } from '../../base/index.js';
import { readRecords, readState } from '../../commit/index.js';
import { checkPages, type Snapshot, type Store } from '../../store/index.js';
import { openData } from '../open-data.js';
import { shownAddress, storeAddress } from '../store-address.js';
import { findingOf } from './app.js';
import { bad, type Finding, good, warning } from './finding.js';
import { checkIndexes } from './index-check.js';

// The program of a child process: a damaged page ends whoever reads it by SIGBUS, and that must not be the doctor.

const WRONG_SHOWN = 20;
/** old versions that a service which writes much may not have come to yet */
const OVERDUE = 100_000;

/** batches that a reader who is well does not lag behind; each may have changed a page or thousands */
const LAGGING = 500;

async function main(data: string): Promise<void> {
  const tell = (finding: Finding) => console.log(JSON.stringify(finding));
  const store = storeAddress(undefined);
  const opened = await openData(data, { store, readOnly: true }).catch((error: unknown) => {
    const isNew = store !== undefined && codeOf(error) === 'NOT_FOUND';
    tell(isNew ? good('store', `${shownAddress(store)} holds no store yet`) : findingOf('store', error));
  });
  if (!opened) return;
  try {
    if (store === undefined) pages(opened.store.snapshot(), join(data, 'data.mdb'), tell);
    else tell(good('store', `${shownAddress(store)} answers`));
    await versions(opened.store, tell);
    readers(opened.store, tell);
    await records(opened.store.snapshot(), tell);
    const transaction = await opened.graph.begin({ bestEffort: true });
    const reader = await transaction.reader();
    const wrong: string[] = [];
    for await (const text of checkIndexes(reader)) {
      if (wrong.push(text) > WRONG_SHOWN) break;
    }
    const { schema } = reader;
    reader.release();
    tell(good('schema', `${schema.predicates.length} predicates, ${schema.types.length} types`));
    if (wrong.length === 0) tell(good('indexes', 'samples of all indexes agree with the data'));
    const fix = 'drop the index and declare it again, or restore the last backup';
    for (const text of wrong) tell(bad('indexes', text, fix));
    await types(opened.api, tell);
  } catch (error) {
    tell(findingOf('store', error));
  } finally {
    await opened.close();
  }
}

function pages(snapshot: Snapshot, file: string, tell: (finding: Finding) => void): void {
  try {
    checkPages(file);
    tell(good('pages', 'each leads to those that belong to it'));
  } catch (error) {
    tell(findingOf('pages', error));
  } finally {
    snapshot.release();
  }
}

async function types(api: Api, tell: (finding: Finding) => void): Promise<void> {
  const refused =
    'correct what GET /admin/schema answers, and send it to POST /admin/schema; or keep to --compat dgraph';
  for (const mistake of api.mistakes()) {
    tell(warning('types', `no stored type is served: ${inOneLine(mistake, 'the stored type definitions')}`, refused));
  }
  if (api.current() === undefined) return;
  const misfits = await api.misfits();
  if (misfits.length === 0) tell(good('types', 'stored nodes are as the type definitions say'));
  const fix =
    'write what is missing: an update that sets an edge with @hasInverse again writes both ends, each node needs its required fields; or change the definitions';
  for (const { message } of misfits) tell(warning('types', message, fix));
}

async function versions(store: Store, tell: (finding: Finding) => void): Promise<void> {
  const count = (await store.overdue?.(OVERDUE)) ?? 0;
  if (count < OVERDUE) return;
  const fix = 'the log of the service says why; its user needs the right to DELETE from graphstead_entry';
  tell(warning('versions', `${OVERDUE} old versions or more lie in the database that nobody reads`, fix));
}

function readers(store: Store, tell: (finding: Finding) => void): void {
  const oldest = store.oldestReader?.();
  if (oldest === undefined || oldest.batches < LAGGING) return;
  const told = `process ${oldest.process} reads what stood there ${oldest.batches} batches ago: no page since is used again, and data.mdb grows with each write`;
  tell(warning('readers', told, 'let it go on if it stands still, wait for it if it makes a copy, or end it'));
}

async function records(snapshot: Snapshot, tell: (finding: Finding) => void): Promise<void> {
  let count = 0;
  try {
    const { trimmed } = await readState(snapshot);
    for await (const page of readRecords(snapshot, trimmed)) count += page.length;
    tell(good('records', `${count} commit records match their checksums`));
  } catch (error) {
    tell(findingOf('records', error));
  } finally {
    snapshot.release();
  }
}

await main(process.argv[2]);
