/**
 * NamespaceAutoProvision, in addition to the recorded requests: many requests at once create the namespace once, and other plugins can
 * reject it.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { startServerWithClient } from "../../../test/support/server-with-client.ts";
import { defaultOptions } from "../../index.ts";

const { client } = await startServerWithClient({
  admission: { ...defaultOptions.admission, enable: ["NamespaceAutoProvision"] },
});
const post = (path: string, body: object): ReturnType<typeof client.send> =>
  client.send({ method: "POST", path, body });

test("requests that need the same missing namespace at once all succeed", async () => {
  const create = (name: string): ReturnType<typeof post> =>
    post("/api/v1/namespaces/shared/configmaps", { metadata: { name } });
  const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => create(`c-${index}`)));
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201]));
});

const group = "/apis/admissionregistration.k8s.io/v1";

test("a policy that rejects the namespace rejects the request that needs it", async () => {
  const rule = { apiGroups: [""], apiVersions: ["v1"], resources: ["namespaces"], operations: ["CREATE"] };
  await post(`${group}/validatingadmissionpolicies`, {
    metadata: { name: "p" },
    spec: { matchConstraints: { resourceRules: [rule] }, validations: [{ expression: "false", message: "no" }] },
  });
  await post(`${group}/validatingadmissionpolicybindings`, {
    metadata: { name: "p" },
    spec: { policyName: "p", validationActions: ["Deny"] },
  });
  const { status, body } = await post("/api/v1/namespaces/rejected/configmaps", { metadata: { name: "a" } });
  assert.equal(status, 403);
  assert.match(
    body.message,
    /^configmaps "a" is forbidden: namespaces "rejected" is forbidden: ValidatingAdmissionPolicy 'p' .* denied request: no$/,
  );
});
