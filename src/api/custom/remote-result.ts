import { type RemoteField, type RemoteSchema, type RemoteType, remoteTypeName } from '../../outbound/index.js';
import { baseName, type Field, type Model, type ObjectType } from '../../sdl/index.js';
import { inputFits, inputMismatches, needsValue, resultFits } from './remote-type.js';

/**
 * Every difference between a remote type of ours and the remote's type of the same name, and the types below: fields
 * that it lacks or has as something else, their arguments, and members of interfaces and unions that it lacks.
 */
export function objectMismatches(model: Model, remote: RemoteSchema, local: string): string[] {
  const found: string[] = [];
  const seen = new Set<string>();
  const visit = (name: string): void => {
    const type = model.types.get(name);
    if (seen.has(name) || type === undefined || !('members' in type) || !type.remote) return;
    seen.add(name);
    const theirs = remote.type(name);
    if (type.kind !== 'object') {
      found.push(...memberMismatches(name, type.members, theirs));
      for (const member of type.members) if (isPossible(theirs, member)) visit(member);
    }
    if (type.kind !== 'union') fields(type, theirs);
  };
  const fields = (object: ObjectType, theirs: RemoteType | undefined): void => {
    for (const field of object.fields) {
      const key = field.responseName ?? field.name;
      const their = theirs?.fields?.find((one) => one.name === key);
      if (!their) {
        found.push(`the remote's type ${object.name} has no field ${key}`);
        continue;
      }
      if (!resultFits(field.type.node, their.type)) {
        found.push(`${object.name}.${field.name} does not fit ${object.name}.${key} of the remote`);
      }
      found.push(...argumentMismatches(model, remote, `${object.name}.${key}`, field, their));
      visit(field.type.name);
    }
  };
  visit(local);
  return found;
}

/** A selection names every member of ours, so the remote has to know each. */
function memberMismatches(name: string, members: readonly string[], theirs: RemoteType | undefined): string[] {
  return members
    .filter((member) => !isPossible(theirs, member))
    .map((member) => `the remote's ${name} is never a ${member}`);
}

function isPossible(type: RemoteType | undefined, member: string): boolean {
  const possible = type?.possibleTypes;
  return !possible || possible.some((one) => one.name === member);
}

function argumentMismatches(
  model: Model,
  remote: RemoteSchema,
  where: string,
  field: Field,
  their: RemoteField,
): string[] {
  const ours = new Set(field.arguments.map((argument) => argument.name.value));
  const lacking = their.args
    .filter((one) => needsValue(one) && !ours.has(one.name))
    .map((one) => `${where} of the remote needs the argument ${one.name}`);
  const others = field.arguments.flatMap(({ name: { value: name }, type }) => {
    const taken = their.args.find((one) => one.name === name);
    if (!taken) return [`${where} of the remote has no argument ${name}`];
    // one that has a default may be left out
    const demanded = taken.type.kind === 'NON_NULL' && taken.defaultValue !== null ? taken.type.ofType : taken.type;
    if (!demanded || inputFits(type, demanded)) {
      return inputMismatches(model, remote, baseName(type), remoteTypeName(taken.type));
    }
    return [`argument ${name} of ${where} does not fit the remote's`];
  });
  return [...lacking, ...others];
}
