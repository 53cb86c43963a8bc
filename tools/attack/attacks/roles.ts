/** Roles whose lists multiply. */
import type { RequestRow } from "../request-attack.ts";
import type { Target } from "../target.ts";

const roles = "/apis/rbac.authorization.k8s.io/v1/namespaces";
/** A user that can write roles, but grants only permissions that it has. */
const mallory = { "impersonate-user": "mallory" };

const words = (count: number): string[] => Array.from({ length: count }, (_, index) => index.toString(36));

/** @param size values of each of the four lists */
function product(size: number): Record<string, string[]> {
  const list = words(size);
  return { verbs: list, apiGroups: list, resources: list, resourceNames: list };
}

/** Lets mallory write roles, and grants the rules. */
async function grant(target: Target, name: string, rules: readonly object[]): Promise<void> {
  const writesRoles = { verbs: ["*"], apiGroups: ["rbac.authorization.k8s.io"], resources: ["roles"] };
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name };
  const subjects = [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "mallory" }];
  const at = `${roles}/${target.namespace}`;
  const metadata = { name };
  const noEscalation = { ...writesRoles, verbs: ["create", "update", "patch", "get"] };
  await target.send({ method: "POST", path: `${at}/roles`, body: { metadata, rules: [noEscalation, ...rules] } });
  await target.send({ method: "POST", path: `${at}/rolebindings`, body: { metadata, roleRef, subjects } });
}

/** Binds a role of ten thousand rules to trudy fifty times: a list of all of them has 27 MB. */
async function bindMany({ namespace, send }: Target): Promise<void> {
  const at = `${roles}/${namespace}`;
  const rules = words(10_000).map((word) => ({ verbs: ["x"], apiGroups: [""], resources: [word] }));
  await send({ method: "POST", path: `${at}/roles`, body: { metadata: { name: "large" }, rules } });
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "large" };
  const subjects = [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "trudy" }];
  for (const word of words(50)) {
    const body = { metadata: { name: `large-${word}` }, roleRef, subjects };
    await send({ method: "POST", path: `${at}/rolebindings`, body });
  }
}

const create = (rules: readonly object[], target: Target) => ({
  method: "POST",
  path: `${roles}/${target.namespace}/roles?dryRun=All`,
  headers: mallory,
  body: { metadata: { name: "product" }, rules },
});

export const roleRows: readonly RequestRow[] = [
  {
    group: "h",
    name: "a role of millions of permissions that the user lacks",
    size: 80,
    statuses: [403],
    prepare: (target) => grant(target, "writer", []),
    request: (size, target) => create([product(size)], target),
  },
  {
    group: "h",
    name: "a role of millions of permissions that the user has by many rules",
    size: 80,
    statuses: [201, 403, 504],
    prepare: (target) =>
      grant(
        target,
        "parts",
        words(80).map((verb) => ({ ...product(80), apiGroups: words(80).map((word) => `g${word}`), verbs: [verb] })),
      ),
    request: (size, target) => create([{ ...product(size), apiGroups: words(size).map((word) => `g${word}`) }], target),
  },
  {
    group: "h",
    name: "a role of thousands of rules",
    size: 10_000,
    statuses: [403],
    prepare: (target) => grant(target, "writer", []),
    request: (size, target) =>
      create(
        Array.from({ length: size }, (_, index) => ({ verbs: ["x"], apiGroups: [""], resources: [`r${index}`] })),
        target,
      ),
  },
  {
    group: "h",
    name: "a role of thousands of path patterns",
    size: 5_000,
    statuses: [403],
    request: (size) => ({
      method: "POST",
      path: "/apis/rbac.authorization.k8s.io/v1/clusterroles?dryRun=All",
      headers: mallory,
      body: {
        metadata: { name: "paths" },
        rules: [{ verbs: words(20), nonResourceURLs: words(size).map((word) => `/${word}/*`) }],
      },
    }),
  },
  {
    group: "h",
    name: "a review of the rules of a role with many bindings",
    size: 1,
    bound: { cpuMs: 100, cpuMsPer100KB: 5, stallMs: 100 },
    statuses: [201],
    prepare: bindMany,
    request: (_size, { namespace }) => ({
      method: "POST",
      path: "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
      headers: { "impersonate-user": "trudy" },
      body: { spec: { namespace } },
    }),
  },
  {
    group: "c",
    name: "a ClusterRole with a path pattern of stars",
    size: 100_000,
    statuses: [201, 422],
    request: (size) => ({
      method: "POST",
      path: "/apis/rbac.authorization.k8s.io/v1/clusterroles?dryRun=All",
      body: { metadata: { name: "stars" }, rules: [{ verbs: ["get"], nonResourceURLs: [`/${"*".repeat(size)}a*`] }] },
    }),
  },
];
