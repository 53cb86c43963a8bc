/**
 * Columns of role bindings. Source:
 * `k8s.io/kubernetes@v1.36.0/pkg/printers/internalversion/printers.go`.
 */
import type { KubeObject } from "../../apimachinery/object.ts";
import { ageColumn, nameColumn } from "../../catalog/common-columns.ts";
import type { Column } from "../../catalog/strategy-contract.ts";
import { text, wide } from "../column.ts";
import { items } from "../fields.ts";

export const clusterRoleBindingColumns: readonly Column[] = bindingColumns(
  "clusterRoleBinding",
  "RoleRef can only reference a ClusterRole in the global namespace. If the RoleRef cannot be resolved, the Authorizer must return an error.",
);

export const roleBindingColumns: readonly Column[] = bindingColumns(
  "roleBinding",
  "RoleRef can reference a Role in the current namespace or a ClusterRole in the global namespace. If the RoleRef cannot be resolved, the Authorizer must return an error.",
);

function bindingColumns(kind: string, roleText: string): readonly Column[] {
  return [
    nameColumn,
    text("Role", roleText, ({ roleRef }) => `${roleRef?.kind ?? ""}/${roleRef?.name ?? ""}`),
    ageColumn,
    wide(text("Users", `Users in the ${kind}`, (binding) => subjects(binding, "User"))),
    wide(text("Groups", `Groups in the ${kind}`, (binding) => subjects(binding, "Group"))),
    wide(text("ServiceAccounts", `ServiceAccounts in the ${kind}`, (binding) => subjects(binding, "ServiceAccount"))),
  ];
}

function subjects(binding: KubeObject, kindOfSubject: string): string {
  return items(binding.subjects)
    .filter(({ kind }) => kind === kindOfSubject)
    .map(({ namespace = "", name }) => (kindOfSubject === "ServiceAccount" ? `${namespace}/${name}` : name))
    .join(", ");
}
