import { GraphsteadError, type Position } from '../../../base/index.js';
import type { Predicate, UidList } from '../../../graph/index.js';
import { decodeValue, parseVector } from '../../../values/index.js';
import type { FunctionCall } from '../../syntax/index.js';
import type { Execution } from '../execution.js';
import { contains, EMPTY, fromUids } from '../uid-set.js';
import { distinctValues } from '../variable.js';
import { indexedBy, invalid, textOf } from './argument.js';
import type { CallOperator } from './contract.js';

/** `similar_to(embedding, 3, "[0.1, 0.2]")`, `similar_to(embedding, 3, val(v))`, or the vector of a node by its uid. */
export const similarCall: CallOperator = {
  root: (call, execution) => search(call, execution),
  filter: (call, candidates, execution) => search(call, execution, (uid) => contains(candidates, uid)),
};

async function search(call: FunctionCall, execution: Execution, filter?: (uid: number) => boolean): Promise<UidList> {
  if (isEmptyVariable(call, execution)) return EMPTY;
  const predicate = indexedBy('hnsw', call, execution);
  const neighbours = Number(textOf(call.args[0], call));
  if (!Number.isSafeInteger(neighbours) || neighbours <= 0) {
    throw invalid(
      'similar_to needs the number of neighbours as its second argument',
      call.position,
      'Write similar_to(predicate, 3, $vector).',
    );
  }
  const vector = await vectorOf(call, predicate, execution);
  if (!vector || vector.length === 0) return EMPTY;
  const found = await execution.reader.similar(predicate, vector, neighbours, {
    ...call.options,
    filter,
    pause: () => execution.checkpoint(),
  });
  return fromUids(found.map((one) => one.uid));
}

/** Without a vector there is nothing to be near to, whatever the schema says. */
function isEmptyVariable(call: FunctionCall, execution: Execution): boolean {
  const argument = call.args[1];
  return argument?.kind === 'value' && distinctValues(execution.variables.get(argument.variable)).length === 0;
}

async function vectorOf(
  call: FunctionCall,
  predicate: Predicate,
  execution: Execution,
): Promise<Float32Array | undefined> {
  const argument = call.args[1];
  if (argument?.kind === 'value') {
    const value = distinctValues(execution.variables.get(argument.variable))[0];
    if (value && value.type !== 'float32vector') throw noVector(argument.position);
    return value?.value;
  }
  const text = textOf(argument, call).trim();
  if (text === '') throw noVector(argument?.position ?? call.position);
  if (/^(0x[0-9a-fA-F]+|\d+)$/.test(text)) {
    const stored = (await execution.reader.values(predicate, Float64Array.of(Number(text)))).at(0);
    const value = stored && decodeValue(stored);
    return value?.type === 'float32vector' ? value.value : undefined;
  }
  try {
    return parseVector(text);
  } catch (error) {
    if (!(error instanceof GraphsteadError)) throw error;
    throw new GraphsteadError(error.code, error.message, { position: argument?.position, fix: error.fix });
  }
}

function noVector(position: Position): GraphsteadError {
  return invalid('similar_to needs a vector', position, 'Write it as "[0.1, 0.2]", or give val(v) of vectors.');
}
