/** The limit of merged tolerations, in addition to the recorded requests. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { startServerWithClient } from "../../../test/support/server-with-client.ts";
import { defaultOptions } from "../../index.ts";

const plugins: [plugin: string, spec: object][] = [
  ["PodTolerationRestriction", {}],
  ["RuntimeClass", { runtimeClassName: "r" }],
];

for (const [plugin, spec] of plugins) {
  const { client } = await startServerWithClient({
    admission: {
      ...defaultOptions.admission,
      enable: plugin === "RuntimeClass" ? [] : [plugin],
      disable: ["ServiceAccount", "DefaultTolerationSeconds"],
    },
  });
  const runtimeClass = { metadata: { name: "r" }, handler: "h", scheduling: {} };
  const created = await client.send({
    method: "POST",
    path: "/apis/node.k8s.io/v1/runtimeclasses",
    body: runtimeClass,
  });
  assert.equal(created.status, 201, created.text);
  for (const [count, status] of [
    [1000, 201],
    [1001, 403],
  ] as const) {
    test(`${plugin} answers a pod with ${count} tolerations with ${status}`, async () => {
      const tolerations = Array.from({ length: count }, (_, index) => ({ key: `k-${index}`, operator: "Exists" }));
      const body = {
        metadata: { name: `p-${count}` },
        spec: { containers: [{ name: "c", image: "i", resources: { requests: { cpu: "1" } } }], tolerations, ...spec },
      };
      const answer = await client.send({ method: "POST", path: "/api/v1/namespaces/default/pods", body });
      assert.equal(answer.status, status, answer.text);
      if (status === 403)
        assert.equal(answer.body.message, 'pods "p-1001" is forbidden: pods can have at most 1000 tolerations');
    });
  }
}
