/** The limit of PodTolerationRestriction, in addition to the recorded requests. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { startServerWithClient } from "../../../../test/support/server-with-client.ts";
import { defaultOptions } from "../../../index.ts";

const { client } = await startServerWithClient({
  admission: {
    ...defaultOptions.admission,
    enable: ["PodTolerationRestriction"],
    disable: ["ServiceAccount", "DefaultTolerationSeconds"],
  },
});

for (const [count, status] of [
  [1000, 201],
  [1001, 403],
] as const) {
  test(`a pod with ${count} tolerations is answered with ${status}`, async () => {
    const tolerations = Array.from({ length: count }, (_, index) => ({ key: `k-${index}`, operator: "Exists" }));
    const body = {
      metadata: { name: `p-${count}` },
      spec: { containers: [{ name: "c", image: "i", resources: { requests: { cpu: "1" } } }], tolerations },
    };
    const answer = await client.send({ method: "POST", path: "/api/v1/namespaces/default/pods", body });
    assert.equal(answer.status, status, answer.text);
    if (status === 403)
      assert.equal(answer.body.message, 'pods "p-1001" is forbidden: pods can have at most 1000 tolerations');
  });
}
