/** The flags of the plugin. The fixture `pod-defaults` in testdata has its rules. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { openMemoryRegistry } from "../../../test/support/memory-registry.ts";
import { defaultTolerationSeconds } from "./default-toleration-seconds.ts";

test("tolerations have the seconds of the flags", async () => {
  const options = { enable: [], disable: [], notReadyTolerationSeconds: 0, unreachableTolerationSeconds: -5 };
  const { create, close } = await openMemoryRegistry({ plugins: () => [defaultTolerationSeconds(options)] });
  await create(["/namespaces", ""], { metadata: { name: "ns" } });
  const spec = { containers: [{ name: "c", image: "i" }] };
  const pod = await create(["/pods", "ns"], { metadata: { name: "p" }, spec });
  const toleration = { operator: "Exists", effect: "NoExecute" };
  assert.deepEqual(pod.spec.tolerations, [
    { ...toleration, key: "node.kubernetes.io/not-ready", tolerationSeconds: 0 },
    { ...toleration, key: "node.kubernetes.io/unreachable", tolerationSeconds: -5 },
  ]);
  await close();
});
