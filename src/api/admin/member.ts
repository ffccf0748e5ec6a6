// The one process as the peer's clients know a cluster, for the GraphQL API of administration and for /state.

/** The only member of its only group; `addr` is null where it does not listen. */
export function memberOf(addr: string | null) {
  return { id: '1', groupId: 1, addr, leader: true, amDead: false, clusterInfoOnly: false, forceGroupId: false };
}

/** Where a predicate lies, by its shown name. */
export function tabletOf(predicate: string) {
  return { predicate, groupId: 1, readOnly: false, force: false, remove: false };
}
