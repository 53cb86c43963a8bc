/** The right to create: a PUT or an apply needs it as soon as it creates. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type ApiAnswer, send } from "../../../test/support/api-client.ts";
import { type MemoryRegistryOptions, openMemoryRegistry } from "../../../test/support/memory-registry.ts";
import type { AdmissionPlugin } from "../../admission/contract.ts";
import type { AuthorizationAttributes, Authorizer, Decision } from "../../authorization/contract.ts";

const maps = "/api/v1/namespaces/n/configmaps";
const leases = "/apis/coordination.k8s.io/v1/namespaces/n/leases";
const deployments = "/apis/apps/v1/namespaces/n/deployments";
const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } };
const lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: "a" } };
const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "m" } };
const deployment = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "a" }, spec: {} };
const scale = { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "a" } };

interface Place {
  /**
   * What the authorizer was asked: verb, group, version, resource, subresource, namespace and name.
   */
  readonly asked: string[];
  send(line: string, body?: object): Promise<ApiAnswer>;
}

async function inMemory(
  decision: Decision,
  run: (place: Place) => Promise<void>,
  options: MemoryRegistryOptions = {},
): Promise<void> {
  const { registry, close } = await openMemoryRegistry(options);
  await send(registry, "POST /api/v1/namespaces", { metadata: { name: "n" } });
  const asked: string[] = [];
  const authorize: Authorizer = async (attributes) => {
    asked.push(describeQuestion(attributes));
    return decision;
  };
  await run({ asked, send: (line, body) => send(registry, line, body, {}, authorize) });
  await close();
}

function describeQuestion({
  user,
  verb,
  group,
  version,
  resource,
  subresource,
  namespace,
  name,
}: AuthorizationAttributes): string {
  return `${user.name} ${verb} ${group}/${version} ${resource}/${subresource} ${namespace}/${name}`;
}

const allowed: Decision = { decision: "allow", reason: "" };
const noOpinion: Decision = { decision: "noOpinion", reason: "" };

const creating: [line: string, body: object, asked: string, message: string][] = [
  [
    `APPLY ${maps}/a?fieldManager=m`,
    map,
    "tester create /v1 configmaps/ n/a",
    'configmaps "a" is forbidden: User "tester" cannot create resource "configmaps" in API group "" in the namespace "n"',
  ],
  [
    `PUT ${leases}/a`,
    lease,
    "tester create coordination.k8s.io/v1 leases/ n/a",
    'leases.coordination.k8s.io "a" is forbidden: User "tester" cannot create resource "leases" in API group "coordination.k8s.io" in the namespace "n"',
  ],
  [
    "APPLY /api/v1/namespaces/m?fieldManager=m",
    namespace,
    "tester create /v1 namespaces/ m/m",
    'namespaces "m" is forbidden: User "tester" cannot create resource "namespaces" in API group "" in the namespace "m"',
  ],
];

for (const [line, body, question, message] of creating) {
  for (const asDryRun of [line, `${line}${line.includes("?") ? "&" : "?"}dryRun=All`]) {
    describe(asDryRun, () => {
      test("answers 403 and creates nothing without the right to create", () =>
        inMemory(noOpinion, async (place) => {
          const answer = await place.send(asDryRun, body);
          assert.deepEqual([answer.status, answer.body.reason, answer.body.message], [403, "Forbidden", message]);
          assert.deepEqual(place.asked, [question]);
          const path = (line.split(" ")[1] as string).split("?")[0];
          assert.equal((await place.send(`GET ${path}`)).status, 404);
        }));

      test("creates with it", () =>
        inMemory(allowed, async (place) => {
          assert.equal((await place.send(asDryRun, body)).status, 201);
          assert.deepEqual(place.asked, [question]);
        }));
    });
  }
}

test("answers 500 when the authorizer fails", () =>
  inMemory({ decision: "noOpinion", reason: "why", error: "the webhook is gone" }, async ({ send }) => {
    const { status, body } = await send(`PUT ${leases}/a`, lease);
    assert.deepEqual(
      [status, body.reason, body.message],
      [500, "InternalError", "Internal error occurred: the webhook is gone"],
    );
  }));

test("creates when the authorizer allows in spite of an error", () =>
  inMemory({ ...allowed, error: "half of it failed" }, async ({ send }) => {
    assert.equal((await send(`PUT ${leases}/a`, lease)).status, 201);
  }));

test("reports an invalid object before the missing right", () =>
  inMemory(noOpinion, async ({ send, asked }) => {
    assert.equal((await send(`PUT ${leases}/a`, { ...lease, spec: { leaseDurationSeconds: -1 } })).status, 422);
    assert.deepEqual(asked, []);
  }));

const asksNothing: [line: string, body: object, status: number][] = [
  [`APPLY ${maps}/there?fieldManager=m`, { ...map, metadata: { name: "there" }, data: { k: "v" } }, 200],
  [`PUT ${maps}/there`, { metadata: { name: "there" } }, 200],
  [`MERGE ${maps}/there`, { data: { k: "v" } }, 200],
  [`PUT ${maps}/a`, map, 404],
  [`MERGE ${leases}/a`, {}, 404],
  [`APPLY ${deployments}/a/status?fieldManager=m`, deployment, 404],
  [`APPLY ${deployments}/a/scale?fieldManager=m`, scale, 404],
  [`PUT ${deployments}/a/scale`, scale, 404],
];
test("does not authorize when nothing is created", () =>
  inMemory(noOpinion, async ({ send, asked }) => {
    await send(`POST ${maps}`, { metadata: { name: "there" } });
    for (const [line, body, status] of asksNothing) assert.equal((await send(line, body)).status, status, line);
    assert.deepEqual(asked, []);
  }));

const leasePath = `${leases}/a`;
const applied = { ...lease, spec: { holderIdentity: "m" } };

/**
 * Sends a request each time an attempt at the lease reaches admission, as long as there are any.
 */
function racing(requests: [operation: "CREATE" | "UPDATE", line: string, body?: object][]): {
  place(place: Place): void;
  options: MemoryRegistryOptions;
} {
  let sender: Place | undefined;
  const mutate: AdmissionPlugin["mutate"] = async ({ operation, object }) => {
    if (requests[0]?.[0] !== operation || object?.kind !== "Lease") return;
    const [, line, body] = requests.shift() as (typeof requests)[number];
    await sender?.send(line, body);
  };
  return {
    place(place) {
      sender = place;
    },
    options: { plugins: () => [{ name: "Race", mutate }] },
  };
}

for (const [decision, status] of [
  [noOpinion, 403],
  [allowed, 201],
] as const) {
  test(`an object deleted during its update is created again only with the right to create: ${status}`, async () => {
    const race = racing([["UPDATE", `DELETE ${leasePath}`]]);
    await inMemory(
      decision,
      async (place) => {
        await place.send(`POST ${leases}`, lease);
        race.place(place);
        assert.equal((await place.send(`APPLY ${leasePath}?fieldManager=m`, applied)).status, status);
        assert.deepEqual(place.asked, ["tester create coordination.k8s.io/v1 leases/ n/a"]);
      },
      race.options,
    );
  });
}

test("all attempts of a request use the first decision", async () => {
  const race = racing([
    ["CREATE", `POST ${leases}`, lease],
    ["UPDATE", `DELETE ${leasePath}`],
  ]);
  await inMemory(
    allowed,
    async (place) => {
      race.place(place);
      assert.equal((await place.send(`APPLY ${leasePath}?fieldManager=m`, applied)).status, 201);
      assert.deepEqual(place.asked, ["tester create coordination.k8s.io/v1 leases/ n/a"]);
    },
    race.options,
  );
});
