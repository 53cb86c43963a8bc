import assert from "node:assert/strict";
import { test } from "node:test";
import { openMemoryRegistry } from "../../../../test/support/memory-registry.ts";

const label1035 =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const label =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

const rows: [name: string, gates: string, problem: string | undefined][] = [
  ["a-1", "", undefined],
  ["1-a", "", undefined],
  ["a_b", "", label],
  ["a-1", "RelaxedServiceNameValidation=false", undefined],
  ["1-a", "RelaxedServiceNameValidation=false", label1035],
  ["a_b", "RelaxedServiceNameValidation=false", label1035],
];

for (const [name, featureGates, problem] of rows) {
  test(`${problem === undefined ? "accepts" : "rejects"} a service named ${name}${featureGates && ` with ${featureGates}`}`, async () => {
    const cluster = await openMemoryRegistry({ featureGates });
    await cluster.create(["/namespaces", ""], { metadata: { name: "n" } });
    const creating = cluster.create(["/services", "n"], {
      metadata: { name },
      spec: { ports: [{ port: 80 }], clusterIP: "None" },
    });
    if (problem === undefined) await creating;
    else
      await assert.rejects(creating, {
        message: `Service "${name}" is invalid: metadata.name: Invalid value: "${name}": ${problem}`,
      });
    await cluster.close();
  });
}
