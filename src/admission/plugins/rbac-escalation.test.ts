import assert from "node:assert/strict";
import { test } from "node:test";
import { openMemoryRegistry } from "../../../test/support/memory-registry.ts";
import { seededRandom } from "../../../test/support/seeded-random.ts";
import { ApiError } from "../../apimachinery/errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { UserInfo } from "../../apimachinery/user.ts";
import { authorizerOf, rbacModule } from "../../authorization/modes.ts";
import { type FollowedPolicy, followPolicy } from "../../authorization/rbac/follow-policy.ts";
import type { Resolved } from "../../catalog/contract.ts";
import { create } from "../../registry/create.ts";
import { update } from "../../registry/update.ts";
import { rbacEscalation } from "./rbac-escalation.ts";

const group = "rbac.authorization.k8s.io";
const ann: UserInfo = { name: "ann", uid: "", groups: ["dev", "system:authenticated"], extra: new Map() };
const root: UserInfo = { ...ann, name: "root", groups: ["system:masters"] };
const readPods = { verbs: ["get", "list"], apiGroups: [""], resources: ["pods"] };
const writePods = { verbs: ["create"], apiGroups: [""], resources: ["pods"] };
const to = (kind: string, name: string): object => ({ apiGroup: group, kind, name });

/** Opens a cluster in which ann can read pods in all namespaces. */
async function open() {
  let followed: FollowedPolicy | undefined;
  const cluster = await openMemoryRegistry({
    plugins: (catalog) => {
      followed = followPolicy({
        catalog,
        clock: { now: Date.now, after: () => () => {} },
        logger: { info() {}, warn() {}, error() {} },
      });
      const authorize = authorizerOf([rbacModule(followed.policy)]);
      return [rbacEscalation(followed.policy, authorize)];
    },
  });
  const { registry } = cluster;
  const rbac = followed as FollowedPolicy;
  const request = (resource: string, namespace: string, name: string, user: UserInfo) => {
    const target = registry.catalog.find(group, "v1", resource) as Resolved;
    return {
      target,
      namespace,
      name,
      subresource: "",
      user,
      dryRun: false,
      fieldManager: "test",
      userAgent: "test",
      warnings: [],
    };
  };
  const settle = async (): Promise<void> => rbac.reached(await registry.storage.current());
  const make = async (user: UserInfo, resource: string, namespace: string, object: object): Promise<void> => {
    await create(registry, {
      ...request(resource, namespace, "", user),
      decode: () => structuredClone(object) as KubeObject,
    });
    await settle();
  };
  const change = async (
    user: UserInfo,
    resource: string,
    namespace: string,
    name: string,
    by: (object: KubeObject) => void,
  ): Promise<void> => {
    await update(registry, {
      ...request(resource, namespace, name, user),
      next(current) {
        const object = (current as () => KubeObject)();
        by(object);
        return object;
      },
    });
    await settle();
  };
  await rbac.tried;
  await cluster.create(["/namespaces", ""], { kind: "Namespace", metadata: { name: "n" } });
  await make(root, "clusterroles", "", { metadata: { name: "reader" }, rules: [readPods] });
  await make(root, "clusterroles", "", { metadata: { name: "writer" }, rules: [writePods] });
  await make(root, "clusterrolebindings", "", {
    metadata: { name: "ann" },
    roleRef: to("ClusterRole", "reader"),
    subjects: [{ kind: "User", name: "ann", apiGroup: group }],
  });
  return {
    make,
    change,
    async close() {
      rbac.stop();
      await cluster.close();
    },
  };
}

type Cluster = Awaited<ReturnType<typeof open>>;

const annAndGroups = 'user "ann" (groups=["dev" "system:authenticated"])';
const notHeld = (missing: string): string =>
  `${annAndGroups} is attempting to grant RBAC permissions not currently held:\n${missing}`;
const create1 = '{APIGroups:[""], Resources:["pods"], Verbs:["create"]}';
const grant = (cluster: Cluster, verb: string, resource: string, name: string): Promise<void> =>
  cluster
    .make(root, "clusterroles", "", {
      metadata: { name: "more" },
      rules: [{ verbs: [verb], apiGroups: [group], resources: [resource], resourceNames: [name] }],
    })
    .then(() =>
      cluster.make(root, "clusterrolebindings", "", {
        metadata: { name: "more" },
        roleRef: to("ClusterRole", "more"),
        subjects: [{ kind: "User", name: "ann", apiGroup: group }],
      }),
    );

const rows: [what: string, write: (cluster: Cluster) => Promise<void>, rejection?: string][] = [
  [
    "a role with permissions that she has",
    ({ make }) => make(ann, "roles", "n", { metadata: { name: "r" }, rules: [readPods] }),
  ],
  [
    "a role with permissions that she lacks",
    ({ make }) => make(ann, "roles", "n", { metadata: { name: "r" }, rules: [readPods, writePods] }),
    `roles.rbac.authorization.k8s.io "r" is forbidden: ${notHeld(create1)}`,
  ],
  [
    "an update that adds a permission to a role",
    ({ change }) => change(ann, "clusterroles", "", "reader", (role) => role.rules.push(writePods)),
    `clusterroles.rbac.authorization.k8s.io "reader" is forbidden: ${notHeld(create1)}`,
  ],
  [
    "a label of a role with permissions that she lacks",
    ({ change }) =>
      change(ann, "clusterroles", "", "writer", (role) => Object.assign(role.metadata, { labels: { a: "b" } })),
    `clusterroles.rbac.authorization.k8s.io "writer" is forbidden: ${notHeld(create1)}`,
  ],
  [
    "a finalizer of a role with permissions that she lacks",
    ({ change }) =>
      change(ann, "clusterroles", "", "writer", (role) => Object.assign(role.metadata, { finalizers: ["a.b/c"] })),
  ],
  [
    "a role with an aggregationRule",
    ({ make }) =>
      make(ann, "clusterroles", "", {
        metadata: { name: "r" },
        rules: [],
        aggregationRule: { clusterRoleSelectors: [{}] },
      }),
    'clusterroles.rbac.authorization.k8s.io "r" is forbidden: must have cluster-admin privileges to use the aggregationRule',
  ],
  [
    "a binding to a role whose permissions she has",
    ({ make }) =>
      make(ann, "rolebindings", "n", { metadata: { name: "b" }, roleRef: to("ClusterRole", "reader"), subjects: [] }),
  ],
  [
    "a binding to a role with permissions that she lacks",
    ({ make }) =>
      make(ann, "rolebindings", "n", { metadata: { name: "b" }, roleRef: to("ClusterRole", "writer"), subjects: [] }),
    `rolebindings.rbac.authorization.k8s.io "b" is forbidden: ${notHeld(create1)}`,
  ],
  [
    "a binding to a missing Role",
    ({ make }) =>
      make(ann, "rolebindings", "n", { metadata: { name: "b" }, roleRef: to("Role", "gone"), subjects: [] }),
    'rolebindings.rbac.authorization.k8s.io "gone" not found',
  ],
  [
    "a cluster binding to a missing ClusterRole",
    ({ make }) =>
      make(ann, "clusterrolebindings", "", {
        metadata: { name: "b" },
        roleRef: to("ClusterRole", "gone"),
        subjects: [],
      }),
    'clusterrolebindings.rbac.authorization.k8s.io "gone" not found',
  ],
  [
    "a cluster binding to a Role",
    ({ make }) =>
      make(ann, "clusterrolebindings", "", { metadata: { name: "b" }, roleRef: to("Role", "gone"), subjects: [] }),
    "Namespace parameter required.",
  ],
  [
    "a role with permissions that she lacks, when a role bound to her is missing",
    async ({ make }) => {
      const subjects = [{ kind: "User", name: "ann", apiGroup: group }];
      await make(root, "rolebindings", "n", { metadata: { name: "b" }, roleRef: to("ClusterRole", "gone"), subjects });
      await make(ann, "roles", "n", { metadata: { name: "r" }, rules: [writePods] });
    },
    `roles.rbac.authorization.k8s.io "r" is forbidden: ${notHeld(create1)}; resolution errors: [roles.rbac.authorization.k8s.io "gone" not found]`,
  ],
  [
    "a role with permissions that she lacks, with the verb escalate",
    async (cluster) => {
      await grant(cluster, "escalate", "clusterroles", "writer");
      await cluster.change(ann, "clusterroles", "", "writer", (role) =>
        role.rules.push({ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }),
      );
    },
  ],
  [
    "a binding to a role with permissions that she lacks, with the verb bind",
    async (cluster) => {
      await grant(cluster, "bind", "clusterroles", "writer");
      await cluster.make(ann, "clusterrolebindings", "", {
        metadata: { name: "b" },
        roleRef: to("ClusterRole", "writer"),
        subjects: [],
      });
    },
  ],
];

for (const [what, write, rejection] of rows) {
  test(`ann ${rejection === undefined ? "can write" : "cannot write"} ${what}`, async () => {
    const cluster = await open();
    const message = await write(cluster).then(
      () => undefined,
      (error: unknown) => {
        assert.ok(error instanceof ApiError, String(error));
        return error.message;
      },
    );
    assert.equal(message, rejection);
    await cluster.close();
  });
}

const letters = Array.from({ length: 60 }, (_, index) => String.fromCodePoint(0x4e00 + index));
/** Some 800 bytes with 13 million combinations. */
const product = { verbs: letters, apiGroups: letters, resources: letters, resourceNames: letters };

/** @param rules of a role in the namespace that is bound to ann */
async function roleOfProduct(rules: readonly object[]): Promise<ApiError> {
  const cluster = await open();
  const subjects = [{ kind: "User", name: "ann", apiGroup: group }];
  await cluster.make(root, "roles", "n", { metadata: { name: "own" }, rules });
  await cluster.make(root, "rolebindings", "n", { metadata: { name: "own" }, roleRef: to("Role", "own"), subjects });
  const written = cluster.make(ann, "roles", "n", { metadata: { name: "r" }, rules: [product] });
  const error = await written.then(
    () => assert.fail("the role was written"),
    (thrown: unknown) => thrown as ApiError,
  );
  await cluster.close();
  return error;
}

test("lists some of the permissions that a role of millions of combinations grants", async () => {
  const { message, status } = await roleOfProduct([]);
  assert.equal(status.code, 403);
  assert.ok(message.startsWith(`roles.rbac.authorization.k8s.io "r" is forbidden: ${notHeld("{APIGroups:")}`));
  assert.ok(message.endsWith("\n(further permissions are omitted)"));
  assert.ok(message.length < 100_000, `${message.length} characters`);
});

test("answers with a timeout when the search for missing permissions is too long", async () => {
  const random = seededRandom(1);
  const some = (): string[] => letters.filter(() => random(8) > 0);
  const rules = Array.from({ length: 100 }, () => ({
    verbs: some(),
    apiGroups: some(),
    resources: some(),
    resourceNames: some(),
  }));
  assert.deepEqual((await roleOfProduct(rules)).status, {
    code: 504,
    reason: "Timeout",
    message: "Timeout: request did not complete within requested timeout - context deadline exceeded",
    details: {},
  });
});
