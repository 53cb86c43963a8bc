/** Guarantee: with many grants of one subject, the decision is that of reading them one after another. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { seed } from "../../../test/support/seed.ts";
import { seededRandom } from "../../../test/support/seeded-random.ts";
import { allowingGrant } from "./allowing-grant.ts";
import { boundRole, type Grant, Policy } from "./policy.ts";
import { ruleAllows } from "./rule.ts";

const user = { name: "ann", uid: "", groups: ["dev"], extra: new Map() };
const resources = ["pods", "pods/log", "secrets", "*", "*/status"];
const request = (resource: string, subresource: string, verb: string) => ({
  ...{ isResourceRequest: resource !== "", verb, group: "", resource, subresource, name: "x", path: "/healthz" },
});

function bind(policy: Policy, binding: number, role: string): void {
  policy.setBinding(`b${binding}`, {
    name: `b${binding}`,
    namespace: "",
    subjects: [{ kind: "Group", name: "dev", namespace: "" }],
    roleRef: { kind: "ClusterRole", name: role },
  });
}

/** What a decision is by definition. */
function readAll(policy: Policy, asked: ReturnType<typeof request>): { grant: Grant | undefined; problems: string[] } {
  const problems = new Set<string>();
  for (const grant of policy.grants(user, "")) {
    const role = boundRole(policy, grant.binding);
    if (typeof role === "string") problems.add(role);
    else if (role.rules.some((rule) => ruleAllows(rule, asked))) return { grant, problems: [] };
  }
  return { grant: undefined, problems: [...problems] };
}

function decide(policy: Policy, asked: ReturnType<typeof request>): ReturnType<typeof readAll> {
  const problems = new Set<string>();
  const [grants = []] = policy.grantLists(user, "");
  const grant = allowingGrant(policy, grants, asked, problems);
  return { grant, problems: grant === undefined ? [...problems] : [] };
}

test(`decides as if it read every grant (SEED=${seed})`, () => {
  const random = seededRandom(seed);
  const policy = new Policy();
  const changeRole = (): void => {
    const name = `r${random(12)}`;
    const rules = Array.from({ length: random(3) }, () => ({
      verbs: [random(2) === 0 ? "get" : "list"],
      ...(random(4) === 0
        ? { nonResourceURLs: [random(2) === 0 ? "/healthz" : "/other"] }
        : { apiGroups: [""], resources: [resources[random(resources.length)] as string] }),
    }));
    policy.setRole(name, random(5) === 0 ? undefined : { name, namespace: "", rules });
  };
  for (let binding = 0; binding < 40; binding++) bind(policy, binding, `r${random(14)}`);
  for (let round = 0; round < 300; round++) {
    const change = random(4);
    if (change < 2) changeRole();
    else if (change === 2) bind(policy, random(50), `r${random(14)}`);
    else policy.setBinding(`b${random(50)}`, undefined);
    if (round % 50 === 0) for (let binding = 0; binding < 40; binding++) bind(policy, binding, `r${random(14)}`);
    for (const resource of ["", "pods", "secrets", "nodes"])
      for (const subresource of ["", "log", "status"]) {
        const asked = request(resource, subresource, "get");
        assert.deepEqual(decide(policy, asked), readAll(policy, asked), JSON.stringify({ round, asked }));
      }
  }
});

test("reads no role that does not list the resource", () => {
  const policy = new Policy();
  let reads = 0;
  for (let at = 0; at < 1000; at++) {
    const rules = [{ verbs: ["get"], apiGroups: [""], resources: [`kind-${at}`] }];
    policy.setRole(`r${at}`, {
      name: `r${at}`,
      namespace: "",
      get rules() {
        reads++;
        return rules;
      },
    });
    bind(policy, at, `r${at}`);
  }
  assert.equal(decide(policy, request("pods", "", "get")).grant, undefined);
  reads = 0;
  assert.equal(decide(policy, request("pods", "", "get")).grant, undefined);
  assert.equal(decide(policy, request("kind-7", "", "get")).grant?.binding.name, "b7");
  assert.equal(reads, 1);
});
