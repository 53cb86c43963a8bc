/** Service accounts of pods on a server whose controllers run, as `coxswain` starts it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { kubectls, runKubectl } from "../support/kubectl.ts";
import { startServerWithClient } from "../support/server-with-client.ts";

const { server, client } = await startServerWithClient({ controllers: ["*"] });

test("a pod is accepted right after its namespace was created", async () => {
  for (const name of Array.from({ length: 10 }, (_none, index) => `new-${index}`)) {
    const created = await client.send({ method: "POST", path: "/api/v1/namespaces", body: { metadata: { name } } });
    assert.equal(created.status, 201, created.text);
    const body = { metadata: { name: "p" }, spec: { containers: [{ name: "c", image: "i" }] } };
    const { status, text } = await client.send({ method: "POST", path: `/api/v1/namespaces/${name}/pods`, body });
    assert.equal(status, 201, text);
  }
});

for (const kubectl of kubectls()) {
  test(`${kubectl} runs a pod in the namespace default and in a new one`, async () => {
    const run = (words: string): ReturnType<typeof runKubectl> =>
      runKubectl(kubectl, words.split(" "), { directory: server.directory, kubeconfigPath: server.kubeconfigPath });
    const name = `ns-${/[\d.]*$/.exec(kubectl)?.[0].replaceAll(".", "")}`;
    assert.match((await run(`create namespace ${name}`)).output, /created/);
    for (const namespace of ["default", name])
      assert.match((await run(`run ${name} --image=i -n ${namespace}`)).output, /^pod\/ns-\d* created$/);
    const path = "{.spec.serviceAccountName} {.spec.volumes[0].projected.sources[1].configMap.name}";
    const found = await runKubectl(kubectl, ["get", "pod", name, "-n", name, "-o", `jsonpath=${path}`], {
      directory: server.directory,
      kubeconfigPath: server.kubeconfigPath,
    });
    assert.equal(found.output, "default kube-root-ca.crt");
  });
}
