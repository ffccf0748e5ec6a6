const INTERNAL =
  /^(service|dgraph)\.(cors|drop\.op|graphql(\..+)?|xid|password|user\.group|group\.acl|rule\..+|acl\.rule|namespace(\..+)?|type\..+)$/;

/** True for predicates and types that a service, ours or the peer's, keeps for itself. Exports hold them too. */
export function isInternalName(name: string): boolean {
  return INTERNAL.test(name);
}
