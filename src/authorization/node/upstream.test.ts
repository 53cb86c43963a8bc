/**
 * Decisions and reasons on random clusters equal upstream's, as recorded by
 * tools/golden/kubernetes/node-authorizer.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { parseFeatureGates } from "../../apimachinery/feature-gates.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { nodeRules } from "../../controllers/bootstrap/rbac/policy.ts";
import type { AuthorizationAttributes, Decision } from "../contract.ts";
import { nodeAuthorizer } from "./node.ts";
import { type NodeBoundKind, NodeRelations } from "./relations.ts";

interface World {
  readonly gates: string;
  readonly pods: readonly KubeObject[];
  readonly volumes: readonly KubeObject[];
  readonly own: readonly {
    readonly kind: NodeBoundKind;
    readonly namespace: string;
    readonly name: string;
    readonly node: string;
  }[];
  readonly requests: readonly (Omit<AuthorizationAttributes, "user"> & {
    readonly user: string;
    readonly groups: readonly string[];
  })[];
  readonly answers: readonly (readonly [decision: string, reason: string])[];
}

const worlds: World[] = gunzipSync(readFileSync(join(import.meta.dirname, "testdata/upstream.jsonl.gz")))
  .toString()
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line));

function relationsOf({ pods, volumes, own }: World): NodeRelations {
  const relations = new NodeRelations();
  for (const pod of pods) relations.setPod(pod.metadata.namespace as string, pod.metadata.name as string, pod);
  for (const volume of volumes) relations.setVolume(volume.metadata.name as string, volume);
  for (const { kind, namespace, name, node } of own) relations.setNode(kind, namespace, name, node);
  return relations;
}

const base = { isResourceRequest: true, path: "", version: "v1", labelSelector: "" };

for (const [at, world] of worlds.entries()) {
  test(`${world.requests.length} requests in the random cluster ${at}${world.gates && `, ${world.gates}`}`, () => {
    const { gates } = parseFeatureGates(world.gates);
    const authorize = nodeAuthorizer(relationsOf(world), { rules: nodeRules(gates), enabled: gates.enabled });
    for (const [index, { user: name, groups, ...request }] of world.requests.entries()) {
      const user = { name, uid: "", groups, extra: new Map() };
      const { decision, reason } = authorize({ ...base, ...request, user }) as Decision;
      assert.deepEqual([decision, reason], world.answers[index], JSON.stringify([name, groups, request]));
    }
  });
}
