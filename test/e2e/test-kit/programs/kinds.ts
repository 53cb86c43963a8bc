/** The kinds of objects that random programs write: plain ones, custom ones, and those that give permissions. */
import { customResourceDefinition } from "../../../../src/testing/index.ts";

/** Objects of a kind have a small number as their value, which `bodyOf` and `patchOf` put where the kind has room. */
export interface Kind {
  readonly name: string;
  /** Of the collection. */
  readonly path: string;
  /** Whether an update may omit the resourceVersion. */
  readonly updatesWithoutVersion: boolean;
  /** Whether an update of an absent object creates it. */
  readonly createsOnUpdate: boolean;
  /** @returns what is specific to the kind */
  fields(name: string, value: number): object;
}

const rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default";
const rbacGroup = "rbac.authorization.k8s.io";
const names = ["a", "b", "c", "d", "e"];
const users = 3;

export const kinds: readonly Kind[] = [
  {
    name: "configmaps",
    path: "/api/v1/namespaces/default/configmaps",
    updatesWithoutVersion: true,
    createsOnUpdate: false,
    fields: (_name, value) => ({ data: { v: String(value) } }),
  },
  {
    name: "widgets",
    path: "/apis/example.com/v1/namespaces/default/widgets",
    updatesWithoutVersion: false,
    createsOnUpdate: false,
    fields: (_name, value) => ({ apiVersion: "example.com/v1", kind: "Widget", spec: { v: value } }),
  },
  {
    name: "roles",
    path: `${rbac}/roles`,
    updatesWithoutVersion: true,
    createsOnUpdate: true,
    fields: (_name, value) => ({ rules: [{ apiGroups: [""], resources: ["configmaps"], verbs: [verbOf(value)] }] }),
  },
  {
    name: "rolebindings",
    path: `${rbac}/rolebindings`,
    updatesWithoutVersion: true,
    createsOnUpdate: true,
    fields: (name, value) => ({
      roleRef: { apiGroup: rbacGroup, kind: "Role", name },
      subjects: [{ apiGroup: rbacGroup, kind: "User", name: userOf(value) }],
    }),
  },
];

/** What the Role with this value permits. */
export const verbOf = (value: number): "get" | "list" => (value % 2 === 0 ? "get" : "list");

/** The user to whom the RoleBinding with this value gives the Role of its own name. */
export const userOf = (value: number): string => `user-${value % users}`;

export const kindAt = (index: number): Kind => kinds[index % kinds.length] as Kind;
export const nameAt = (index: number): string => names[index % names.length] as string;

/** The definition of the custom kind. */
export const widgetDefinition = customResourceDefinition("widgets.example.com", "Widget");

/** The label by which selectors of programs choose objects. */
export const parityLabel = "parity";

/** @returns the labels of an object with this value */
export const labelsOf = (value: number): Record<string, string> => ({ [parityLabel]: String(value % 2) });
