import type { GraphReader, Predicate, UidList } from './contract.js';

/** Some of the nodes that have a predicate, for who looks whether things are well: the first of them, `most` at most. */
export async function sampleOf(reader: GraphReader, predicate: Predicate, most: number): Promise<UidList> {
  for await (const uids of reader.having(predicate)) return uids.subarray(0, most);
  return new Float64Array();
}
