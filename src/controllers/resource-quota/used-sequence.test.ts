/**
 * The events of a watch of quotas: after each of the requests, which follow each other, the usage
 * takes the same values, in the same order, as in those of kube-apiserver with
 * kube-controller-manager.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { runUsedSequence, statusScenarios, type UsedValues } from "../../../test/support/quota-status.ts";
import type { Answer } from "../../../test/support/raw-client.ts";
import { startServerWithClient } from "../../../test/support/server-with-client.ts";
import { eventually } from "../../../test/support/until.ts";

const { client } = await startServerWithClient({
  controllers: ["resourcequota-controller"],
  admission: { enable: [], disable: ["ServiceAccount", "Priority", "StorageObjectInUseProtection"] },
});

interface Recorded {
  readonly namespace: string;
  readonly steps: readonly UsedValues[];
}

const recorded: readonly Recorded[] = readFileSync(join(import.meta.dirname, "testdata/used.jsonl"), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));

function send(line: string, body = "", headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  const [method = "", path = ""] = line.split(" ");
  return client.send({ method, path, headers, ...(body !== "" && { body }) });
}

/** Waits until the usage of each quota is the last of its values. */
async function untilUsed(namespace: string, values: UsedValues): Promise<void> {
  for (const [name, all] of Object.entries(values)) {
    await eventually(`the usage of ${namespace}/${name}`, async () => {
      const { body } = await send(`GET /api/v1/namespaces/${namespace}/resourcequotas/${name}`);
      assert.deepEqual(body.status.used, all.at(-1));
    });
  }
}

test("the usage of quotas takes upstream's values after each request", { concurrency: true }, async (context) => {
  await Promise.all(
    statusScenarios.map((scenario, index) =>
      context.test(scenario.namespace, async () => {
        const { namespace, steps } = recorded[index] as Recorded;
        assert.equal(scenario.namespace, namespace);
        const settled = (step: number): Promise<void> => untilUsed(namespace, steps[step] as UsedValues);
        assert.deepEqual(await runUsedSequence(send, scenario, { settled }), steps);
      }),
    ),
  );
});
