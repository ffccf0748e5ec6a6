export { basicAuthorization } from './basic-authorization.js';
export { each, type Left, mapped, opened, type Pushing, recovered, type Take } from './async-iterable.js';
export { countBits } from './bits.js';
export { HeapWatch } from './heap-watch.js';
export { Yielder } from './yielder.js';
export { type Clock, LONGEST_TIMER, systemClock } from './clock.js';
export { ClockSteps } from './clock-steps.js';
export { tlsAdvice, verifying } from './database-tls.js';
export {
  asError,
  assert,
  cancelled,
  codeOf,
  ERROR_STATUS,
  type ErrorCode,
  GraphsteadError,
  GraphsteadErrors,
  inOneLine,
  internal,
  withSource,
  type Position,
  positionAt,
  toWire,
  type WireError,
} from './errors.js';
export { Failing } from './failing.js';
export { freeBytes } from './free-bytes.js';
export { givenOptions, givenText, assertCallable } from './given-options.js';
export { addTo, groupBy, within } from './group.js';
export { type Hide, hiding } from './hide.js';
export { BOUNDS, Histogram } from './histogram.js';
export { isHeaderValue } from './header-value.js';
export { isRecord } from './is-record.js';
export { exactJson, type JsonLoss, jsonLoss } from './json-loss.js';
export { JsonWriter } from './json-writer.js';
export { latin1 } from './latin1.js';
export { levenshteinWithin } from './levenshtein.js';
export { DEFAULT_LIMITS, type Limits, limitMistake, makeLimits } from './limits.js';
export { chain, type MaybePromise } from './maybe.js';
export { bootOfThis, type NamedProcess, namedIn, nameOfThis, textOf } from './named-process.js';
export { defaultNames, dgraphNames, type Names, TYPE_PREDICATE } from './names.js';
export { onceFor } from './once-for.js';
export { isOfConnection, isOwnHeader } from './own-header.js';
export { compiled, packageRoot } from './package-root.js';
export { parseJson } from './parse-json.js';
export {
  type Environment,
  isPlaceholder,
  namesVariables,
  placeholdersIn,
  strayBraces,
  substitute,
  variableName,
  withTexts,
} from './placeholder.js';
export { makePrivateFolder } from './private-folder.js';
export { randomTexts } from './random-texts.js';
export { documentWeight, Recent } from './recent.js';
export { Secret } from './secret.js';
export { sourceStack } from './source-stack.js';
export { stepsUp } from './step-up.js';
export { atOnce, forEachInSteps, inSteps, STEP, type Steps } from './steps.js';
export { table } from './table.js';
export { type EndedStep, noTrace, type Step, type StepFacts, type StepOptions, type Trace } from './trace.js';
export { UnderWay } from './under-way.js';
export { variableTexts } from './variable-texts.js';
