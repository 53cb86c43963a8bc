/**
 * Compares the indexed RBAC evaluator with a linear one that shares no code with it, on random
 * policies that change. COXSWAIN_TEST_FULL=1 runs 100,000 requests.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { seed } from "../../../test/support/seed.ts";
import type { AuthorizationAttributes, Decision, PolicyRule } from "../contract.ts";
import { type Binding, Policy, type Role, type Subject } from "./policy.ts";
import { rbacAuthorizer } from "./rbac.ts";

interface World {
  readonly roles: Map<string, Role>;
  readonly bindings: Map<string, Binding>;
}

/**
 * Evaluates all bindings and roles. Source: Kubernetes docs, Using RBAC Authorization, API objects.
 */
function allowedByScan({ roles, bindings }: World, request: AuthorizationAttributes): boolean {
  return [...bindings.values()].some(({ namespace, subjects, roleRef }) => {
    const isInScope = namespace === "" || (request.isResourceRequest && namespace === request.namespace);
    if (!isInScope || !subjects.some((subject) => matchesSubject(subject, namespace, request))) return false;
    const home = roleRef.kind === "Role" ? namespace : "";
    return [...roles.values()].some(
      (role) => role.name === roleRef.name && role.namespace === home && role.rules.some((rule) => fits(rule, request)),
    );
  });
}

function matchesSubject({ kind, name, namespace }: Subject, home: string, { user }: AuthorizationAttributes): boolean {
  if (kind === "User") return name === user.name;
  if (kind === "Group") return user.groups.includes(name);
  const place = namespace === "" ? home : namespace;
  return kind === "ServiceAccount" && place !== "" && user.name === `system:serviceaccount:${place}:${name}`;
}

function fits(
  { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] }: PolicyRule,
  request: AuthorizationAttributes,
): boolean {
  const has = (list: readonly string[], value: string): boolean => list.includes("*") || list.includes(value);
  if (!has(verbs, request.verb)) return false;
  if (!request.isResourceRequest) {
    return nonResourceURLs.some(
      (url) => url === "*" || url === request.path || (url.endsWith("*") && request.path.startsWith(url.slice(0, -1))),
    );
  }
  const { resource, subresource } = request;
  const whole = subresource === "" ? resource : `${resource}/${subresource}`;
  const namesIt = has(resources, whole) || (subresource !== "" && resources.includes(`*/${subresource}`));
  return (
    namesIt && has(apiGroups, request.group) && (resourceNames.length === 0 || resourceNames.includes(request.name))
  );
}

const name = fc.constantFrom("a", "b");
const namespace = fc.constantFrom("", "m", "n");
const deleted = fc.nat(5).map((chance) => chance === 0);
const some = (...values: string[]): fc.Arbitrary<string[]> => fc.subarray(values, { minLength: 1 });
const rule: fc.Arbitrary<PolicyRule> = fc.oneof(
  fc.record({
    verbs: some("get", "list", "*"),
    apiGroups: some("", "apps"),
    resources: some("pods", "pods/log", "*/log", "nodes"),
  }),
  fc.record({ verbs: some("get"), apiGroups: some("*"), resources: some("*", "pods"), resourceNames: some("a", "b") }),
  fc.record({ verbs: some("get", "list"), apiGroups: some("", "*"), resources: some("*") }),
  fc.record({ verbs: some("get", "*"), nonResourceURLs: some("/x", "/y/*", "*", "/y*", "/") }),
  fc.record({ verbs: some("get"), apiGroups: some(""), resources: some("nodes"), nonResourceURLs: some("/x") }),
  fc.constant({}),
);
const kind = fc.constantFrom("User", "User", "Group", "Group", "ServiceAccount", "Cat");
const change = fc.oneof(
  fc.record({ role: fc.record({ name, namespace, rules: fc.array(rule, { maxLength: 4, size: "max" }) }), deleted }),
  fc.record({
    binding: fc.record({
      name,
      namespace,
      subjects: fc.array(fc.record({ kind, name, namespace }), { maxLength: 4, size: "max" }),
      roleRef: fc.record({ kind: fc.constantFrom("Role", "ClusterRole"), name }),
    }),
    deleted,
  }),
);
const request: fc.Arbitrary<AuthorizationAttributes> = fc
  .record({
    isResourceRequest: fc.boolean(),
    verb: fc.constantFrom("get", "list"),
    path: fc.constantFrom("/x", "/y/z", "/y", "/"),
    group: fc.constantFrom("", "apps"),
    resource: fc.constantFrom("pods", "nodes"),
    subresource: fc.constantFrom("", "log"),
    namespace,
    name: fc.constantFrom("a", "b", "c", ""),
    userName: fc.constantFrom("a", "b", "system:serviceaccount:m:a", "system:serviceaccount:n:b"),
    groups: fc.subarray(["a", "b"]),
  })
  .map(({ userName, groups, ...rest }) => ({
    ...rest,
    version: "v1",
    fieldSelector: "",
    labelSelector: "",
    user: { name: userName, uid: "", groups, extra: new Map() },
  }));

const requestsMin = process.env.COXSWAIN_TEST_FULL === "1" ? 100_000 : 5_000;

test(`${requestsMin} requests of random users get the same decision from the index and from a scan`, () => {
  let checked = 0;
  let allowed = 0;
  for (let round = 0; checked < requestsMin; round++) {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(change, fc.array(request, { minLength: 10, maxLength: 10 })), { maxLength: 60, size: "max" }),
        (steps) => {
          const world: World = { roles: new Map(), bindings: new Map() };
          const policy = new Policy();
          const authorize = rbacAuthorizer(policy);
          for (const [step, requests] of steps) {
            apply(step, world, policy);
            for (const each of requests) {
              const want = allowedByScan(world, each);
              assert.equal(
                (authorize(each) as Decision).decision === "allow",
                want,
                JSON.stringify([each, [...world.roles.values()], [...world.bindings.values()]]),
              );
              checked++;
              if (want) allowed++;
            }
          }
        },
      ),
      { numRuns: 20, seed: seed + round },
    );
  }
  // The generated policies must match often enough.
  assert.ok(allowed > checked / 40, `only ${allowed} of ${checked} were allowed`);
});

type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

function apply(step: Change, world: World, policy: Policy): void {
  const each = "role" in step ? step.role : step.binding;
  const key = `${each.namespace}/${each.name}`;
  if ("role" in step) {
    policy.setRole(key, step.deleted ? undefined : step.role);
    if (step.deleted) world.roles.delete(key);
    else world.roles.set(key, step.role);
  } else {
    policy.setBinding(key, step.deleted ? undefined : step.binding);
    if (step.deleted) world.bindings.delete(key);
    else world.bindings.set(key, step.binding);
  }
}
