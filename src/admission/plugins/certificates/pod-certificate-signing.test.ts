import assert from "node:assert/strict";
import { after, test } from "node:test";
import { openMemoryRegistry, type Place } from "../../../../test/support/memory-registry.ts";
import type { Authorizer } from "../../../authorization/contract.ts";
import { podCertificateSigning } from "./pod-certificate-signing.ts";

/** Allows signing for `wild.com/*` only. */
const authorize: Authorizer = ({ verb, resource, name }) => {
  return { decision: `${verb} ${resource} ${name}` === "sign signers wild.com/*" ? "allow" : "noOpinion", reason: "" };
};

const opened = await openMemoryRegistry({
  featureGates: "PodCertificateRequest=true",
  allVersionsOf: ["certificates.k8s.io"],
  plugins: () => [podCertificateSigning(authorize)],
});
after(() => opened.close());

const requests: Place = ["certificates.k8s.io/podcertificaterequests", "default"];

async function store(name: string, signerName: string): Promise<void> {
  const { registry } = opened;
  const store = registry.catalog.findResource("certificates.k8s.io", "podcertificaterequests")?.store;
  const object = {
    apiVersion: "certificates.k8s.io/v1beta1",
    kind: "PodCertificateRequest",
    metadata: { name, namespace: "default", uid: "u" },
    spec: { signerName },
  };
  const key = store?.keyOf("default", name) ?? "";
  await registry.storage.commit([], [{ key, value: Buffer.from(JSON.stringify(object)) }]);
}

const deny = (name: string): Promise<void> =>
  opened.change(
    requests,
    name,
    (object) => {
      const condition = {
        type: "Denied",
        status: "True",
        reason: "R",
        message: "m",
        lastTransitionTime: "2024-01-01T00:00:00Z",
      };
      object.status = { conditions: [condition] };
    },
    "status",
  );

test("changes of the status require the permission to sign", async () => {
  await opened.create(["/namespaces", ""], { metadata: { name: "default" } });
  await store("mine", "wild.com/a");
  await store("other", "example.com/a");
  await deny("mine");
  await assert.rejects(deny("other"), ({ message }: Error) => {
    const why = 'User "system:apiserver" is not permitted to "sign" for signer "example.com/a"';
    assert.equal(
      message,
      `PodCertificateRequest.certificates.k8s.io "other" is invalid: spec.signerName: Forbidden: ${why}`,
    );
    return true;
  });
  await opened.change(requests, "other", () => {}, "status"); // Changes nothing.
});
