/**
 * `npm run bench -- --rbac`: RBAC decisions with 10,000 bindings and 2,000 roles, their memory, and
 * a get by a user with RBAC compared with the same get by system:masters.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AuthorizationAttributes } from "../src/authorization/contract.ts";
import { Policy } from "../src/authorization/rbac/policy.ts";
import { rbacAuthorizer } from "../src/authorization/rbac/rbac.ts";
import { createAuthority, issueCertificate } from "../src/server/serving/x509.ts";
import { startChild } from "./child.ts";
import { BenchClient, type Target } from "./client.ts";

const users = 3000;
const groups = 200;
const namespaces = 50;

/** Every second binding is a ClusterRoleBinding; each has a user and a group as subjects. */
function filledPolicy(): Policy {
  const policy = new Policy();
  const rule = (index: number): object => ({
    verbs: ["get", "list"],
    apiGroups: [`group-${index % 5}`],
    resources: [`kind-${index}`, "things", "others"],
  });
  for (let index = 0; index < 2000; index++) {
    const namespace = index % 2 === 0 ? `ns-${index % namespaces}` : "";
    policy.setRole(`role ${index}`, {
      name: `role-${index}`,
      namespace,
      rules: Array.from({ length: 5 }, (_, at) => rule(index + at)),
    });
  }
  for (let index = 0; index < 10_000; index++) {
    const inCluster = index % 2 === 1;
    const subject = (kind: string, name: string): { kind: string; name: string; namespace: string } => ({
      kind,
      name,
      namespace: "",
    });
    policy.setBinding(`binding ${index}`, {
      name: `binding-${index}`,
      namespace: inCluster ? "" : `ns-${index % namespaces}`,
      subjects: [subject("User", `user-${index % users}`), subject("Group", `group-${index % groups}`)],
      roleRef: { kind: inCluster ? "ClusterRole" : "Role", name: `role-${index % 2000}` },
    });
  }
  return policy;
}

/** @param show prints a figure and its goal */
export function decisions(show: (what: string, measured: string, goal: string) => void): void {
  const before = process.memoryUsage().heapUsed;
  const policy = filledPolicy();
  const heldMiB = (process.memoryUsage().heapUsed - before) / (1 << 20);
  const authorize = rbacAuthorizer(policy);
  const people = Array.from({ length: users }, (_, index) => ({
    name: `user-${index}`,
    uid: "",
    groups: [`group-${index % groups}`, "system:authenticated"],
    extra: new Map(),
  }));
  const asked = {
    verb: "get",
    isResourceRequest: true,
    path: "",
    version: "v1",
    subresource: "",
    name: "x",
    fieldSelector: "",
    labelSelector: "",
  };
  for (const [what, group, resource] of [
    ["denied", "", "pods"],
    ["allowed", "group-1", "things"],
  ] as const) {
    const request = (index: number): AuthorizationAttributes => ({
      ...{ ...asked, group, resource, namespace: `ns-${index % namespaces}` },
      user: people[index % users] as (typeof people)[number],
    });
    for (let index = 0; index < 50_000; index++) authorize(request(index));
    const before = process.cpuUsage();
    for (let index = 0; index < 100_000; index++) authorize(request(index));
    const { user, system } = process.cpuUsage(before);
    show(`decision, ${what}`, `${((user + system) / 100_000).toFixed(1)} µs of CPU`, "20 µs");
  }
  show("policy in memory", `${heldMiB.toFixed(1)} MiB`, "100 MiB");
}

const rights = "/apis/rbac.authorization.k8s.io/v1";
const operations = 20_000;

async function gets(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-bench-"));
  const validity = { notBefore: Date.now() - 3_600_000, notAfter: Date.now() + 3_600_000 };
  const authority = await createAuthority({ subject: { commonName: "bench" }, ...validity });
  writeFileSync(join(directory, "ca.crt"), authority.cert);
  const child = await startChild(new URL("server-coxswain.ts", import.meta.url), [
    join(directory, "data"),
    join(directory, "ca.crt"),
  ]);
  const target = child.ready as unknown as Target;
  const admin = new BenchClient(target);
  const ann = new BenchClient({
    ...target,
    ...(await issueCertificate(authority, {
      subject: { commonName: "ann", organizations: ["dev"] },
      usage: "client",
      names: [],
      ...validity,
    })),
  });
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "system:kube-scheduler" };
  const subjects = [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "ann" }];
  await admin.send({
    method: "POST",
    path: "/api/v1/namespaces/default/services",
    body: JSON.stringify({ metadata: { name: "a" }, spec: { ports: [{ port: 1 }] } }),
  });
  await admin.send({
    method: "POST",
    path: `${rights}/clusterrolebindings`,
    body: JSON.stringify({ metadata: { name: "ann" }, roleRef, subjects }),
  });
  const cpu = new Map<BenchClient, number>();
  for (let turn = 0; turn < 6; turn++) {
    for (const client of [admin, ann]) {
      const before = await child.usage();
      await client.run(operations, 16, () => ({ method: "GET", path: "/api/v1/namespaces/default/services/a" }), 200);
      if (turn > 0) cpu.set(client, (cpu.get(client) ?? 0) + (await child.usage()).cpuMs - before.cpuMs);
    }
  }
  console.log(
    `get with RBAC     ${((cpu.get(ann) as number) / (cpu.get(admin) as number)).toFixed(2).padStart(6)} x system:masters (goal 1.1)`,
  );
  admin.close();
  ann.close();
  await child.stop();
  rmSync(directory, { recursive: true, force: true });
}

export async function rbacBench(): Promise<void> {
  decisions((what, measured, goal) => console.log(`${what.padEnd(18)} ${measured} (goal ${goal})`));
  await gets();
}
