/**
 * Runs the situations of `test/support/protection-situations.ts` on a server with these controllers, and compares the states with those that
 * kube-controller-manager caused.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import {
  attributesClass,
  claim,
  claimSituations,
  groupSituations,
  namespaceOf,
  podGroup,
  readState,
  runStep,
  type SendProtection,
  type Situation,
  type SituationRow,
  volume,
  volumeSituations,
} from "../../../test/support/protection-situations.ts";
import { rawClient } from "../../../test/support/raw-client.ts";
import { startTestServer } from "../../../test/support/start-test-server.ts";
import { eventually, until } from "../../../test/support/until.ts";
import type { ServerOptions } from "../../server/options.ts";

const controllers = [
  "persistentvolumeclaim-protection-controller",
  "persistentvolume-protection-controller",
  "volumeattributesclass-protection-controller",
  "podgroup-protection-controller",
  "namespace-controller",
  "garbage-collector-controller",
];
const gates = {
  featureGates: "GenericWorkload=true,PersistentVolumeClaimUnusedSinceTime=true",
  runtimeConfig: "scheduling.k8s.io/v1alpha2=true",
};
const fixtures: [name: string, situations: readonly Situation[], options: Partial<ServerOptions>][] = [
  ["default", [...claimSituations, ...volumeSituations], {}],
  ["gates", [...claimSituations, ...groupSituations], gates],
];

for (const [name, situations, options] of fixtures) {
  test(`objects in use stay, as with kube-controller-manager: ${name}`, { timeout: 120_000 }, async () => {
    const rows = new Map(readRows(name).map((row) => [row.name, row]));
    assert.deepEqual(
      [...rows.keys()],
      situations.map((situation) => situation.name),
    );
    const server = await startTestServer({
      controllers,
      admission: { enable: [], disable: ["ServiceAccount"] },
      ...options,
    });
    const client = rawClient(server.kubeconfig);
    const send: SendProtection = (line, body, type) => {
      const [method = "", path = ""] = line.split(" ");
      return client.send({ method, path, headers: { "content-type": type }, ...(body !== undefined && { body }) });
    };
    const barrier = await openBarrier(send, name === "gates");
    await compare(send, barrier, situations, rows);
    client.close();
    await server.close();
  });
}

function readRows(name: string): SituationRow[] {
  const text = readFileSync(join(import.meta.dirname, "testdata", `${name}.jsonl`), "utf8");
  return text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}

type Barrier = () => Promise<void>;

/** Runs the steps of all situations together, so that they share the barriers. */
async function compare(
  send: SendProtection,
  barrier: Barrier,
  situations: readonly Situation[],
  rows: ReadonlyMap<string, SituationRow>,
): Promise<void> {
  const each = (run: (situation: Situation) => Promise<unknown>): Promise<unknown> => Promise.all(situations.map(run));
  await each(async (situation) => {
    const namespace = { metadata: { name: namespaceOf(situation) } };
    const made = await send("POST /api/v1/namespaces", JSON.stringify(namespace), "application/json");
    assert.equal(made.status, 201, made.text);
  });
  const stepsMax = Math.max(...situations.map(({ steps }) => steps.length));
  for (let index = 0; index < stepsMax; index++) {
    const checkState = async (situation: Situation): Promise<void> => {
      if (index >= situation.steps.length) return;
      const expected = rows.get(situation.name)?.states[index];
      assert.deepEqual(await readState(send, situation), expected, `${situation.name}, step ${index}`);
    };
    await each(async (situation) => {
      const step = situation.steps[index];
      if (step !== undefined) await runStep(send, situation, step);
      await until(() => checkState(situation));
    });
    // An object that must stay must also stay when the controllers have processed all changes.
    await barrier();
    await each(checkState);
  }
}

/**
 * Each controller processes objects in order, so when an unused object is gone that was deleted now, the controller has processed all
 * objects before it.
 */
async function openBarrier(send: SendProtection, hasGroups: boolean): Promise<Barrier> {
  const namespace = "barrier";
  await send("POST /api/v1/namespaces", JSON.stringify({ metadata: { name: namespace } }), "application/json");
  const kinds: [path: string, make: (name: string) => object][] = [
    [`/api/v1/namespaces/${namespace}/persistentvolumeclaims`, claim],
    ["/api/v1/persistentvolumes", volume],
    ["/apis/storage.k8s.io/v1/volumeattributesclasses", attributesClass],
  ];
  if (hasGroups) kinds.push([`/apis/scheduling.k8s.io/v1alpha2/namespaces/${namespace}/podgroups`, podGroup]);
  let count = 0;
  return async () => {
    const name = `barrier-${count++}`;
    for (const [path, make] of kinds) {
      const made = await send(`POST ${path}`, JSON.stringify(make(name)), "application/json");
      assert.equal(made.status, 201, made.text);
      await send(`DELETE ${path}/${name}`, undefined, "application/json");
    }
    for (const [path] of kinds) {
      await eventually(
        `${path}/${name} is deleted`,
        async () => (await send(`GET ${path}/${name}`, undefined, "application/json")).status === 404,
      );
    }
  };
}
