/** `--allow-privileged=false` and `--enable-garbage-collector=false`. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { startServerWithClient } from "../support/server-with-client.ts";
import { podControllers } from "../support/start-test-server.ts";

const { client } = await startServerWithClient({
  allowPrivileged: false,
  enableGarbageCollector: false,
  admission: { enable: [], disable: ["ServiceAccount"] },
  controllers: podControllers,
});

const container = (securityContext: object): object => ({ name: "c", image: "i", securityContext });
const hostProcess = { windowsOptions: { hostProcess: true } };
const template = (spec: object): object => ({
  metadata: { name: "d" },
  spec: { selector: { matchLabels: { a: "b" } }, template: { metadata: { labels: { a: "b" } }, spec } },
});
const pods = "/api/v1/namespaces/default/pods";
const deployments = "/apis/apps/v1/namespaces/default/deployments";
const privileged = "Forbidden: disallowed by cluster policy";
const onHost = "Forbidden: hostProcess containers are disallowed by cluster policy";

const rows: [what: string, path: string, body: object, message: string | undefined][] = [
  [
    "a privileged container",
    pods,
    { metadata: { name: "p" }, spec: { containers: [container({ privileged: true })] } },
    `Pod "p" is invalid: spec.containers[0].securityContext.privileged: ${privileged}`,
  ],
  [
    "a privileged init container of a template",
    deployments,
    template({
      containers: [container({})],
      initContainers: [container({ privileged: true })].map((one) => ({ ...one, name: "d" })),
    }),
    `Deployment.apps "d" is invalid: spec.template.spec.initContainers[0].securityContext.privileged: ${privileged}`,
  ],
  [
    "a HostProcess container",
    pods,
    { metadata: { name: "p" }, spec: { hostNetwork: true, containers: [container(hostProcess)] } },
    `Pod "p" is invalid: spec: ${onHost}`,
  ],
  [
    "a container that is not privileged",
    pods,
    { metadata: { name: "q" }, spec: { containers: [container({ privileged: false })] } },
    undefined,
  ],
];

for (const [what, path, body, message] of rows)
  test(`${what} is ${message === undefined ? "accepted" : "rejected"}`, async () => {
    const answer = await client.send({ method: "POST", path, body });
    assert.deepEqual([answer.status, answer.body.message], message === undefined ? [201, undefined] : [422, message]);
  });

for (const propagationPolicy of ["Foreground", "Orphan", "Background"])
  test(`a deletion with the policy ${propagationPolicy} removes the object at once, and no dependents`, async () => {
    const path = "/api/v1/namespaces/default/configmaps";
    const name = propagationPolicy.toLowerCase();
    const owner = await client.send({ method: "POST", path, body: { metadata: { name } } });
    const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name, uid: owner.body.metadata.uid }];
    await client.send({ method: "POST", path, body: { metadata: { name: `of-${name}`, ownerReferences } } });
    const deleted = await client.send({ method: "DELETE", path: `${path}/${name}`, body: { propagationPolicy } });
    assert.equal(deleted.body.status, "Success", deleted.text);
    assert.equal((await client.send({ path: `${path}/${name}` })).status, 404);
    assert.equal((await client.send({ path: `${path}/of-${name}` })).status, 200);
  });
