/**
 * Compares the bootstrap policy with upstream's, with feature gates on and off.
 * tools/golden/kubernetes/bootstrap-policy records testdata/upstream.jsonl.gz.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { binaryMinor } from "../../../apimachinery/effective-version.ts";
import { parseFeatureGates } from "../../../apimachinery/feature-gates.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import type { UserInfo } from "../../../apimachinery/user.ts";
import type { AuthorizationAttributes, PolicyRule } from "../../../authorization/contract.ts";
import { bindingOf, roleOf } from "../../../authorization/rbac/follow-policy.ts";
import { Policy } from "../../../authorization/rbac/policy.ts";
import { rbacAuthorizer } from "../../../authorization/rbac/rbac.ts";
import { bootstrapPolicy, nodeRules } from "./policy.ts";

/**
 * One object of upstream's policy; `spec` is null if the gates remove an object of the default
 * policy.
 */
interface Line {
  readonly gates: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly labels: Record<string, string> | null;
  readonly spec: {
    readonly rules?: PolicyRule[] | null;
    readonly aggregationRule?: object | null;
    readonly roleRef?: object;
    readonly subjects?: object[] | null;
  } | null;
}

const lines: Line[] = gunzipSync(readFileSync(join(import.meta.dirname, "testdata/upstream.jsonl.gz")))
  .toString()
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line));

/** Upstream's policy with these gates, by kind, namespace and name. */
function upstreamPolicy(gates: string): Map<string, unknown> {
  const objects = new Map<string, unknown>();
  for (const each of lines.filter((line) => line.gates === "" || line.gates === gates)) {
    const key = `${each.kind} ${each.namespace}/${each.name}`;
    if (each.spec === null) objects.delete(key);
    else objects.set(key, plain(each.labels ?? {}, each.spec));
  }
  return objects;
}

/** @param text gates, or an emulated release such as `1.34` */
function ourPolicy(text: string): Map<string, unknown> {
  const [, minor] = /^1\.(\d+)$/.exec(text) ?? [];
  const emulated = Number(minor ?? binaryMinor);
  const { gates } = parseFeatureGates(minor === undefined ? text : "", { emulated, minCompatible: emulated - 1 });
  const objects = new Map(
    bootstrapPolicy(gates).map(({ namespace, object }) => [
      `${object.kind} ${namespace}/${object.metadata.name}`,
      plain(object.metadata.labels ?? {}, object as NonNullable<Line["spec"]>),
    ]),
  );
  return objects.set("NodeRules /", plain({}, { rules: nodeRules(gates) }));
}

/** Replaces absent fields by empty ones. */
function plain(labels: object, { rules, aggregationRule, roleRef, subjects }: NonNullable<Line["spec"]>): unknown {
  return {
    labels,
    rules: rules ?? [],
    aggregationRule: aggregationRule ?? null,
    roleRef: roleRef ?? null,
    subjects: subjects ?? [],
  };
}

for (const gates of new Set(lines.map((line) => line.gates))) {
  test(`the policy with ${gates === "" ? "all gates at their defaults" : gates} equals upstream's`, () => {
    const [ours, upstreams] = [ourPolicy(gates), upstreamPolicy(gates)];
    assert.deepEqual([...ours.keys()].sort(), [...upstreams.keys()].sort());
    for (const [key, expected] of upstreams) assert.deepEqual(ours.get(key), expected, key);
  });
}

const noUser: UserInfo = { name: "", uid: "", groups: [], extra: new Map() };

function userOf({ kind, name, namespace }: Record<string, string>): UserInfo {
  if (kind === "Group") return { ...noUser, name: "member", groups: [name as string] };
  return {
    ...noUser,
    name: kind === "ServiceAccount" ? `system:serviceaccount:${namespace}:${name}` : (name as string),
  };
}

/** Yields a request for each verb of each resource and URL of a rule. */
function* requestsOf(rule: PolicyRule): Generator<Partial<AuthorizationAttributes>> {
  for (const verb of rule.verbs ?? []) {
    for (const url of rule.nonResourceURLs ?? [])
      yield { verb, isResourceRequest: false, path: url.replace(/\*$/, "x") };
    for (const group of rule.apiGroups ?? []) {
      for (const each of rule.resources ?? []) {
        const [resource = "", subresource = ""] = each.split("/");
        for (const name of rule.resourceNames ?? ["x"])
          yield { verb, isResourceRequest: true, group, resource, subresource, name };
      }
    }
  }
}

test("each subject of the policy has the permissions of its role, and another user has none of them", () => {
  const objects = bootstrapPolicy(parseFeatureGates("").gates);
  const policy = new Policy();
  for (const { namespace, object } of objects) {
    const whole = { ...object, metadata: { ...object.metadata, namespace } } as KubeObject;
    const key = `${namespace}/${object.metadata.name}`;
    if (object.roleRef === undefined) policy.setRole(key, roleOf(whole));
    else policy.setBinding(key, bindingOf(whole));
  }
  const authorize = rbacAuthorizer(policy);
  const base = {
    path: "",
    version: "v1",
    group: "",
    resource: "",
    subresource: "",
    name: "",
    fieldSelector: "",
    labelSelector: "",
  };
  let checked = 0;
  for (const { namespace, object: binding } of objects.filter(({ object }) => object.roleRef !== undefined)) {
    const role = objects.find(
      ({ object, ...place }) =>
        object.roleRef === undefined && place.namespace === namespace && object.metadata.name === binding.roleRef.name,
    );
    for (const subject of (binding.subjects ?? []) as Record<string, string>[]) {
      for (const rule of (role?.object.rules ?? []) as PolicyRule[]) {
        for (const request of requestsOf(rule)) {
          const attributes = { ...base, namespace, ...request } as AuthorizationAttributes;
          const what = `${binding.metadata.name}: ${JSON.stringify(request)}`;
          assert.equal(
            (authorize({ ...attributes, user: userOf(subject) }) as { decision: string }).decision,
            "allow",
            what,
          );
          assert.equal(
            (authorize({ ...attributes, user: { ...noUser, name: "stranger" } }) as { decision: string }).decision,
            "noOpinion",
            what,
          );
          checked++;
        }
      }
    }
  }
  assert.ok(checked > 900, String(checked));
});
