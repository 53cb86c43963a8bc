import assert from "node:assert/strict";
import { test } from "node:test";
import { manualClock } from "../../test/support/manual-clock.ts";
import { type AdmissionAttributes, reinvocationOf } from "../registry/admission-attributes.ts";
import { createAdmission } from "./chain.ts";
import type { AdmissionPlugin, Observe } from "./contract.ts";

const later = (run: () => void): Promise<void> => new Promise((resolve) => setImmediate(() => resolve(run())));

const rows: [what: string, waits: readonly boolean[]][] = [
  ["nothing to run", []],
  ["no plugin waits", [false, false, false]],
  ["one plugin waits", [false, true, false]],
  ["all plugins wait", [true, true, true]],
];

for (const [what, waits] of rows) {
  test(`${what}: plugins run in order, each after the one before`, async () => {
    const ran: number[] = [];
    const run = (waiting: boolean, index: number): AdmissionPlugin["mutate"] =>
      waiting ? () => later(() => ran.push(index)) : () => void ran.push(index);
    const admission = createAdmission(
      waits.map((waiting, index) => ({ name: String(index), mutate: run(waiting, index) as () => void })),
    );
    await admission.mutate({} as AdmissionAttributes);
    assert.deepEqual(
      ran,
      waits.map((_, index) => index),
    );
    await admission.validate({} as AdmissionAttributes);
    assert.equal(ran.length, waits.length);
  });
}

test("an error of a plugin stops the chain", async () => {
  const rejection = new Error("no");
  const plugins = [
    { name: "a", validate: () => Promise.reject(rejection) },
    { name: "b", validate: () => assert.fail("runs after a rejection") },
  ];
  await assert.rejects(createAdmission(plugins).validate({} as AdmissionAttributes), rejection);
});

test("the observer receives the duration and result of each plugin and of each step", async () => {
  const clock = manualClock();
  const observed: string[] = [];
  const observe =
    (of: string): Observe =>
    (operation, rejected, seconds) =>
      void observed.push(`${of} ${operation} ${rejected ? "rejected" : "accepted"} ${seconds}`);
  const slow = (): Promise<void> =>
    later(() => {
      clock.advance(1500);
    });
  const reject = (): never => {
    throw new Error("no");
  };
  const plugins: AdmissionPlugin[] = [
    { name: "slow", mutate: slow },
    { name: "quick", mutate: () => {}, validate: reject },
  ];
  const admission = createAdmission(plugins, [], {
    plugins: (names, type) => ({
      accepted: (operation, from, to) =>
        void observed.push(`${names.slice(from, to).join(" and ") || "none"} ${type} ${operation} accepted`),
      timed: (plugin, operation, seconds) => observe(`${names[plugin]} ${type} timed`)(operation, false, seconds),
      rejected: (plugin, operation, seconds) => observe(`${names[plugin]} ${type}`)(operation, true, seconds),
    }),
    step: (type) => observe(type),
    clock,
  });
  await admission.mutate({ operation: "CREATE" } as AdmissionAttributes);
  await assert.rejects(admission.validate({ operation: "DELETE" } as AdmissionAttributes), /no/);
  assert.deepEqual(observed, [
    "slow admit timed CREATE accepted 1.5",
    "slow and quick admit CREATE accepted",
    "admit CREATE accepted 1.5",
    "quick validate DELETE rejected 0",
    "none validate DELETE accepted",
    "validate DELETE rejected 0",
  ]);
});

const secondRuns: [what: string, requests: readonly boolean[], ran: string][] = [
  ["no plugin requests it: once", [false, false], "0 1 rule"],
  ["the last plugin requests it: all plugins twice", [false, true], "0 1 0 1 rule"],
  ["a request in the second run has no effect", [true, true], "0 1 0 1 rule"],
];

for (const [what, requests, expected] of secondRuns) {
  for (const waits of [false, true]) {
    test(`second run, ${what}${waits ? ", with waiting plugins" : ""}`, async () => {
      const ran: string[] = [];
      const plugins = requests.map(
        (requesting, index): AdmissionPlugin => ({
          name: String(index),
          mutate(attributes) {
            ran.push(String(index));
            if (requesting) reinvocationOf(attributes).isRequested = true;
            if (waits) return Promise.resolve();
          },
        }),
      );
      const rule = { name: "rule", mutate: () => void ran.push("rule") };
      await createAdmission(plugins, [rule]).mutate({} as AdmissionAttributes);
      assert.equal(ran.join(" "), expected);
    });
  }
}

test("validating plugins run once, also after a second run of mutating plugins", async () => {
  let ran = 0;
  const plugin: AdmissionPlugin = {
    name: "changing",
    mutate(attributes) {
      reinvocationOf(attributes).isRequested = true;
    },
    validate: () => void ran++,
  };
  const attributes = {} as AdmissionAttributes;
  const admission = createAdmission([plugin]);
  await admission.mutate(attributes);
  await admission.validate(attributes);
  assert.equal(ran, 1);
});
