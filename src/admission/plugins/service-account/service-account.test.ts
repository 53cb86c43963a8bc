/**
 * Waiting for the account `default`, and what the pods of different accounts share. The fixture
 * `service-accounts` in ../testdata has the rules.
 */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, test } from "node:test";
import { manualClock } from "../../../../test/support/manual-clock.ts";
import { openMemoryRegistry, type Place } from "../../../../test/support/memory-registry.ts";
import { passTurns } from "../../../../test/support/pass-turns.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { serviceAccount } from "./service-account.ts";

const clock = manualClock(0);
const cluster = await openMemoryRegistry({
  clock,
  plugins: (catalog) => [serviceAccount({ catalog, clock, random: randomBytes })],
});
after(() => cluster.close());

const pods = (namespace: string): Place => ["/pods", namespace];
const accounts = (namespace: string): Place => ["/serviceaccounts", namespace];
const create = (namespace: string, name: string, spec: object = {}): Promise<KubeObject> =>
  cluster.create(pods(namespace), { metadata: { name }, spec: { containers: [{ name: "c", image: "i" }], ...spec } });

async function newNamespace(name: string): Promise<void> {
  await cluster.create(["/namespaces", ""], { metadata: { name } });
}

/** Advances the clock until the promise is settled. @returns the milliseconds that it took */
async function advanceUntilSettled(pending: Promise<unknown>): Promise<number> {
  const since = clock.now();
  let isSettled = false;
  pending.then(
    () => (isSettled = true),
    () => (isSettled = true),
  );
  for (let step = 0; step < 100 && !isSettled; step++) {
    await passTurns(5);
    if (!isSettled) clock.advance(50);
  }
  return clock.now() - since;
}

test("a pod waits until the account default of its namespace is created", async () => {
  await newNamespace("late");
  const pending = create("late", "p");
  await passTurns(20);
  await cluster.create(accounts("late"), { metadata: { name: "other" } });
  await cluster.create(accounts("late"), { metadata: { name: "default" } });
  assert.equal((await pending).spec.serviceAccountName, "default");
});

test("a pod is rejected when the account default is not created in time", async () => {
  await newNamespace("never");
  const pending = create("never", "p");
  const milliseconds = await advanceUntilSettled(pending);
  assert.ok(milliseconds > 900 && milliseconds < 1800, `${milliseconds} ms`); // Upstream waits that long.
  const message =
    'pods "p" is forbidden: error looking up service account never/default: serviceaccount "default" not found';
  await assert.rejects(pending, { message });
});

test("a pod is rejected at once when another account does not exist", async () => {
  const message =
    'pods "p" is forbidden: error looking up service account never/other: serviceaccount "other" not found';
  const pending = create("never", "p", { serviceAccountName: "other" });
  assert.equal(await advanceUntilSettled(pending), 0);
  await assert.rejects(pending, { message });
});

test("a changed account applies to the next pod, and pods do not share its parts", async () => {
  await newNamespace("work");
  await cluster.create(accounts("work"), { metadata: { name: "default" }, imagePullSecrets: [{ name: "pull" }] });
  const [one, other] = [await create("work", "one"), await create("work", "other")];
  assert.deepEqual(one.spec.imagePullSecrets, [{ name: "pull" }]);
  assert.notEqual(one.spec.volumes[0].name, other.spec.volumes[0].name);
  assert.match(one.spec.volumes[0].name, /^kube-api-access-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  await cluster.change(accounts("work"), "default", (account) => {
    account.imagePullSecrets = [{ name: "changed" }];
    account.automountServiceAccountToken = false;
  });
  const next = await create("work", "next");
  assert.deepEqual(next.spec.imagePullSecrets, [{ name: "changed" }]);
  assert.equal(next.spec.volumes, undefined);
});
