import type { Facets, Predicate, StoredColumn, UidList } from '../../graph/index.js';
import type { StoredValue, Value } from '../../values/index.js';
import type { ResultGroup, ResultNode, ResultPath, ValueColumn } from '../contract.js';
import type { Block, Selection } from '../syntax/index.js';
import { EMPTY } from './uid-set.js';

/** A ResultNode while operators still fill it. */
export interface ResultBranch extends ResultNode {
  predicate?: Predicate;
  rows?: readonly UidList[];
  rowFacets?: readonly (readonly (Facets | undefined)[])[];
  values?: StoredColumn;
  valueFacets?: readonly (Facets | undefined)[];
  valueLists?: readonly (readonly StoredValue[])[];
  valueLangs?: readonly (readonly string[])[];
  listFacets?: readonly (readonly (Facets | undefined)[])[];
  counts?: readonly number[];
  computed?: ValueColumn;
  constant?: Value;
  groups?: readonly (readonly ResultGroup[])[];
  paths?: readonly ResultPath[];
  dest: UidList;
  children: ResultBranch[];
}

export function branch(syntax: Block | Selection, source: UidList, predicate?: Predicate): ResultBranch {
  return { syntax, source, predicate, dest: EMPTY, children: [] };
}
