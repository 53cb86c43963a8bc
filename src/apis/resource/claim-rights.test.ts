/** The expected errors are those of kube-apiserver 1.36 for the same users. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { UserInfo } from "../../apimachinery/user.ts";
import { checkStatusRights, type FindClaimDenial } from "./claim-rights.ts";

const userOf = (name: string, node?: string): UserInfo => {
  const extra = new Map(node === undefined ? [] : [["authentication.kubernetes.io/node-name", [node]] as const]);
  return { name, uid: "", groups: [], extra };
};
const account = "system:serviceaccount:kube-system:driver";
const scheduler = userOf("scheduler");
const [here, elsewhere, nowhere] = [userOf(account, "n1"), userOf(account, "n2"), userOf(account)];

const rights: Readonly<Record<string, readonly string[]>> = {
  scheduler: ["update resourceclaims/binding", "patch resourceclaims/binding"],
  [account]: [
    "associated-node:update resourceclaims/driver work/d.example.com",
    "arbitrary-node:patch resourceclaims/driver work/d.example.com",
  ],
};

const findDenial: FindClaimDenial = async ({ user, verb, subresource, namespace, name }) => {
  const permission = `${verb} resourceclaims/${subresource}${name === "" ? "" : ` ${namespace}/${name}`}`;
  return rights[user.name]?.includes(permission) ? undefined : `no ${permission}`;
};

const allocationFor = (node: string): object => ({
  devices: { results: [{ request: "r", driver: "d.example.com", pool: "p", device: "x" }] },
  nodeSelector: { nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values: [node] }] }] },
});
const device = (driver: string, value = 1): object => ({ driver, pool: "p", device: "x", data: { value } });

const claim = (status?: object): KubeObject => {
  const metadata = { name: "c", namespace: "work" };
  return { apiVersion: "resource.k8s.io/v1", kind: "ResourceClaim", metadata, spec: {}, ...(status && { status }) };
};
const allocation = allocationFor("n1");

async function problems(user: UserInfo, next: object, old?: object, verb = "update"): Promise<string[]> {
  const errors = new FieldErrors();
  await checkStatusRights({ user, verb, next: claim(next), old: claim(old) }, findDenial, errors);
  return errors.causes.map(({ field, message }) => `${field}: ${message}`);
}

const forBinding = (verb: string): string =>
  `status.allocation: Forbidden: changing status.allocation or status.reservedFor requires resource="resourceclaims/binding", verb="${verb}" permission: no ${verb} resourceclaims/binding`;
const forDriver = (verbs: string, driver: string): string => {
  const first = verbs.split(" ")[0];
  return `status.devices: Forbidden: changing status.devices requires resource="resourceclaims/driver", verb="[${verbs}]" permission: no ${first} resourceclaims/driver work/${driver}`;
};

test("requires permission for the binding to allocate, deallocate or reserve", async () => {
  assert.deepEqual(await problems(scheduler, { allocation }), []);
  assert.deepEqual(await problems(scheduler, { allocation }, undefined, "patch"), []);
  assert.deepEqual(await problems(here, { allocation }), [forBinding("update")]);
  assert.deepEqual(await problems(here, { allocation }, undefined, "patch"), [forBinding("patch")]);
  assert.deepEqual(await problems(here, {}, { allocation }), [forBinding("update")]);
  const reservedFor = [{ resource: "pods", name: "p", uid: "u" }];
  assert.deepEqual(await problems(here, { allocation, reservedFor }, { allocation }), [forBinding("update")]);
  assert.deepEqual(await problems(here, { allocation, reservedFor }, { allocation, reservedFor }), []);
});

test("requires permission for the driver to report its devices, with another verb on its own node", async () => {
  const arbitrary = "arbitrary-node:update";
  const devices = [device("d.example.com")];
  assert.deepEqual(await problems(here, { allocation, devices }, { allocation }), []);
  for (const user of [elsewhere, nowhere]) {
    assert.deepEqual(await problems(user, { allocation, devices }, { allocation }), [
      forDriver(arbitrary, "d.example.com"),
    ]);
    assert.deepEqual(await problems(user, { allocation, devices }, { allocation }, "patch"), []);
  }
  const both = [device("e.example.com"), ...devices];
  assert.deepEqual(await problems(here, { allocation, devices: both }, { allocation }), [
    forDriver("associated-node:update arbitrary-node:update", "e.example.com"),
  ]);
  assert.deepEqual(
    await problems(scheduler, { allocation, devices: both }, { allocation }),
    ["d.example.com", "e.example.com"].map((driver) => forDriver(arbitrary, driver)),
  );
});

test("requires permission for changed and removed entries, not for unchanged ones", async () => {
  const devices = [device("d.example.com"), device("e.example.com")];
  assert.deepEqual(await problems(scheduler, { allocation, devices }, { allocation, devices }), []);
  assert.deepEqual(
    await problems(here, { allocation, devices: [device("d.example.com", 2), devices[1]] }, { allocation, devices }),
    [],
  );
  assert.deepEqual(await problems(here, { allocation, devices: [devices[0]] }, { allocation, devices }), [
    forDriver("associated-node:update arbitrary-node:update", "e.example.com"),
  ]);
  assert.deepEqual(await problems(scheduler, {}, { allocation, devices }), []); // Deallocation drops them.
});

test("associates no node with an allocation that selects several", async () => {
  const several = { ...allocation, nodeSelector: { nodeSelectorTerms: [{}, {}] } };
  const devices = [device("d.example.com")];
  assert.deepEqual(await problems(here, { allocation: several, devices }, { allocation: several }), [
    forDriver("arbitrary-node:update", "d.example.com"),
  ]);
});
