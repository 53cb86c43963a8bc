/** Who the server itself is when it writes. Source: access-control §5.1. */
import { serviceAccountGroups, serviceAccountUser } from "./service-account.ts";
import type { UserInfo } from "./user.ts";

/** The loopback user, who may do all. */
export const loopbackUser: UserInfo = {
  name: "system:apiserver",
  uid: "",
  groups: ["system:authenticated", "system:masters"],
  extra: new Map(),
};

/** A controller, under the name upstream's has. */
export function controllerUser(name: string): UserInfo {
  const groups = [...serviceAccountGroups("kube-system"), "system:authenticated"];
  return { name: serviceAccountUser("kube-system", name), uid: "", groups, extra: new Map() };
}
