/** The users that the server's own writes have. */
import { serviceAccountGroups, serviceAccountUser } from "./service-account.ts";
import type { UserInfo } from "./user.ts";

/**
 * The loopback user has all permissions. Source: k8s.io/apiserver@v0.36.0/pkg/server/config.go
 * (`AuthorizeClientBearerToken`).
 */
export const loopbackUser: UserInfo = {
  name: "system:apiserver",
  uid: "",
  groups: ["system:authenticated", "system:masters"],
  extra: new Map(),
};

/**
 * @returns the user of a controller: the service account of that name in kube-system, as upstream
 */
export function controllerUser(name: string): UserInfo {
  const groups = [...serviceAccountGroups("kube-system"), "system:authenticated"];
  return { name: serviceAccountUser("kube-system", name), uid: "", groups, extra: new Map() };
}
