/** Large patches are served in steps, between which other requests run; their result is that of one step. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { openMemoryRegistry } from "../../test/support/memory-registry.ts";
import type { ApiError } from "../apimachinery/errors.ts";
import type { KubeObject } from "../apimachinery/object.ts";
import type { Resolved } from "../catalog/contract.ts";
import { expectedKind } from "./decode-body.ts";
import { jsonPatcher } from "./patch/json-patch.ts";
import { readApplyBody, readApplyBodyInSteps } from "./patch/read-apply.ts";
import { patchTree } from "./patch.ts";

const map = (): KubeObject => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { a: "b" } });

test("a JSON Patch pauses before it is decoded, and twice more before it is rejected", async () => {
  const { registry, close } = await openMemoryRegistry();
  const expected = expectedKind(registry.catalog.find("", "v1", "configmaps") as Resolved);
  const answerOf = async (value: unknown): Promise<{ pauses: number; answer: unknown }> => {
    const operations = JSON.stringify([{ op: "add", path: "/data/x", value }]);
    const outcome = async (pause?: () => Promise<void>): Promise<unknown> => {
      const patcher = jsonPatcher(Buffer.from(operations), "Strict");
      const request = { patcher, fieldValidation: "Strict" as const, warnings: [], pause };
      return patchTree(registry.catalog, request, map, expected).catch((error: ApiError) => error.status);
    };
    let pauses = 0;
    const answer = await outcome(async () => {
      pauses += 1;
    });
    assert.deepEqual(answer, await outcome());
    return { pauses, answer };
  };
  const accepted = await answerOf("c");
  assert.deepEqual([accepted.pauses, (accepted.answer as KubeObject).data], [1, { a: "b", x: "c" }]);
  const rejected = await answerOf([1, -2, 0, 123456789012345, 12345678901234567890n.toString(), 1.5]);
  assert.deepEqual([rejected.pauses, (rejected.answer as ApiError["status"]).code], [3, 422]);
  await close();
});

test("the body of an apply is read in steps", async () => {
  const bytes = Buffer.from(JSON.stringify({ ...map(), data: { n: [1, 2.5, { a: null }] } }));
  let pauses = 0;
  const pause = async (): Promise<void> => {
    pauses += 1;
  };
  assert.deepEqual(await readApplyBodyInSteps(bytes, pause), readApplyBody(bytes));
  assert.equal(pauses, 2);
});
