/**
 * The authenticated identity of a request. Source: Kubernetes docs, "Authenticating", heading
 * "Authentication strategies".
 */
export interface UserInfo {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: ReadonlyMap<string, readonly string[]>;
}

const authenticatedGroup = "system:authenticated";

/** The user of requests without credentials. */
export const anonymousUser: UserInfo = {
  name: "system:anonymous",
  uid: "",
  groups: ["system:unauthenticated"],
  extra: new Map(),
};

/**
 * Adds the group `system:authenticated`, except to anonymous and unauthenticated users.
 * Source: k8s.io/apiserver@v0.36.0/pkg/authentication/group/authenticated_group_adder.go.
 */
export function withAuthenticatedGroup(user: UserInfo): UserInfo {
  const { name, groups } = user;
  if (name === anonymousUser.name || groups.includes(authenticatedGroup) || groups.includes("system:unauthenticated"))
    return user;
  return { ...user, groups: [...groups, authenticatedGroup] };
}
