import assert from "node:assert/strict";
import { test } from "node:test";
import { createAdmission } from "./chain.ts";
import type { AdmissionAttributes, AdmissionPlugin } from "./contract.ts";

const later = (run: () => void): Promise<void> => new Promise((resolve) => setImmediate(() => resolve(run())));

const rows: [what: string, waits: readonly boolean[], isPromise: boolean][] = [
  ["nothing to run", [], false],
  ["nobody waits", [false, false, false], false],
  ["one waits", [false, true, false], true],
  ["all wait", [true, true, true], true],
];

for (const [what, waits, isPromise] of rows) {
  test(`${what}: plugins run in order, each after the one before`, async () => {
    const ran: number[] = [];
    const run = (waiting: boolean, index: number): AdmissionPlugin["mutate"] =>
      waiting ? () => later(() => ran.push(index)) : () => void ran.push(index);
    const admission = createAdmission(waits.map((waiting, index) => ({ name: String(index), mutate: run(waiting, index) as () => void })));
    const pending = admission.mutate({} as AdmissionAttributes);
    assert.equal(pending !== undefined, isPromise);
    await pending;
    assert.deepEqual(
      ran,
      waits.map((_, index) => index),
    );
    assert.equal(admission.validate({} as AdmissionAttributes), undefined);
  });
}

test("a refusal stops the chain", async () => {
  const refusal = new Error("no");
  const plugins = [
    { name: "a", validate: () => Promise.reject(refusal) },
    { name: "b", validate: () => assert.fail("runs after a refusal") },
  ];
  await assert.rejects(createAdmission(plugins).validate({} as AdmissionAttributes) as Promise<void>, refusal);
});
