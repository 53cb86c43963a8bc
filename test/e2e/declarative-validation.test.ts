/**
 * Declarative validation rules in a real server: the kinds that they validate, the feature gates,
 * and the metrics.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type RawClient, rawClient } from "../support/raw-client.ts";
import { startTestServer } from "../support/start-test-server.ts";

const workloads = "/apis/scheduling.k8s.io/v1alpha2/namespaces/default/workloads";
const cronJobs = "/apis/batch/v1/namespaces/default/cronjobs";
const scale = "/api/v1/namespaces/default/replicationcontrollers/r/scale";
const counted = ["apiserver_validation_declarative_validation_mismatch_total", "declarative_validation_mismatch_total"];

const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } };
const replicationController = { metadata: { name: "r" }, spec: { selector: { a: "b" }, template } };
const cronJob = {
  metadata: { name: "c" },
  spec: { jobTemplate: { spec: { template: { spec: { ...template.spec, restartPolicy: "Never" } } } } },
};

/** Kinds whose names a declarative rule validates. */
const generated = [
  ["/api/v1/namespaces/default/replicationcontrollers", replicationController],
  ["/apis/resource.k8s.io/v1/deviceclasses", { spec: {} }],
] as const;

/** @returns the causes of the error 422 */
async function causesOf(client: RawClient, method: string, path: string, body: object): Promise<string[]> {
  const answer = await client.send({ method, path, body });
  assert.equal(answer.status, 422, answer.text);
  return answer.body.details.causes.map(({ field, message }: Record<string, string>) => `${field}: ${message}`);
}

for (const [what, gates] of [
  ["with default gates", ""],
  ["with DeclarativeValidationTakeover", "DeclarativeValidationTakeover=true"],
  ["without DeclarativeValidation", "DeclarativeValidation=false,DeclarativeValidationTakeover=true"],
] as const) {
  describe(what, () => {
    test("kinds are validated without mismatches", async () => {
      const server = await startTestServer({
        featureGates: `GenericWorkload=true,${gates}`,
        runtimeConfig: "scheduling.k8s.io/v1alpha2=true",
      });
      const client = rawClient(server.kubeconfig);
      try {
        const invalid = { metadata: { name: "w" }, spec: { podGroupTemplates: [{ name: "A", schedulingPolicy: {} }] } };
        assert.deepEqual(await causesOf(client, "POST", workloads, invalid), [
          `spec.podGroupTemplates[0].name: Invalid value: "A": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')`,
          'spec.podGroupTemplates[0].schedulingPolicy: Invalid value: "": must specify one of: `basic`, `gang`',
        ]);
        assert.deepEqual(await causesOf(client, "POST", cronJobs, cronJob), ["spec.schedule: Required value"]);
        const created = await client.send({
          method: "POST",
          path: "/api/v1/namespaces/default/replicationcontrollers",
          body: replicationController,
        });
        assert.equal(created.status, 201, created.text);
        const requested = {
          kind: "Scale",
          apiVersion: "autoscaling/v1",
          metadata: { name: "r", namespace: "default" },
          spec: { replicas: -1 },
        };
        assert.deepEqual(await causesOf(client, "PUT", scale, requested), [
          "spec.replicas: Invalid value: -1: must be greater than or equal to 0",
        ]);
        for (const [path, body] of generated) {
          const causes = await causesOf(client, "POST", path, { ...body, metadata: { generateName: "A_" } });
          assert.deepEqual(
            [causes.length, causes[0]?.slice(0, 33)],
            [1, 'metadata.name: Invalid value: "A_'],
            "only the generated name is checked",
          );
          const long = await causesOf(client, "POST", path, { ...body, metadata: { name: "x".repeat(254) } });
          assert.match(long.join(), /must be no more than 253 bytes$/);
        }
        const request = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
        assert.match(
          (await causesOf(client, "POST", request, { metadata: { name: "a" } }))[0] ?? "",
          /^spec\.request: Invalid value: null: /,
        );
        const { text } = await client.send({ path: "/metrics" });
        for (const name of counted) assert.match(text, new RegExp(`^${name} 0$`, "m"));
        assert.match(text, /^apiserver_validation_declarative_validation_panic_total 0$/m);
      } finally {
        client.close();
        await server.close();
      }
    });
  });
}
