/** Who a request comes from. Source: access-control §5.1. */
export interface UserInfo {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: ReadonlyMap<string, readonly string[]>;
}

const authenticatedGroup = "system:authenticated";

/** @returns the caller as everybody is who proved who they are. Source: apiserver's authenticated_group_adder. */
export function withAuthenticatedGroup(user: UserInfo): UserInfo {
  const { name, groups } = user;
  if (name === "system:anonymous" || groups.includes(authenticatedGroup) || groups.includes("system:unauthenticated"))
    return user;
  return { ...user, groups: [...groups, authenticatedGroup] };
}
