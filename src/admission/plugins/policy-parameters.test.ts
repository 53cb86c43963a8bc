/** The expected messages are those of kube-apiserver 1.36 for the same user. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { openMemoryRegistry } from "../../../test/support/memory-registry.ts";
import type { ApiError, StatusCause } from "../../apimachinery/errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { UserInfo } from "../../apimachinery/user.ts";
import type { Authorizer } from "../../authorization/contract.ts";
import { policyParameters } from "./policy-parameters.ts";

const group = "admissionregistration.k8s.io";
const opened = await openMemoryRegistry();
after(() => opened.close());
const { catalog } = opened.registry;

const writer: UserInfo = {
  name: "writer",
  uid: "7",
  groups: ["b", "a"],
  extra: new Map([
    ["z", ["1"]],
    ["example.com/a", ["x", "y"]],
  ]),
};
const formattedUser = "&{writer 7 [b a] map[example.com/a:[x y] z:[1]]}";

/** Allows reading one ConfigMap. */
const checked: string[] = [];
const authorize: Authorizer = ({ verb, group, version, resource, namespace, name }) => {
  const access = `${verb} ${group}/${version}/${resource} ${namespace}/${name}`;
  checked.push(access);
  return { decision: access === "get /v1/configmaps n/ok" ? "allow" : "noOpinion", reason: "" };
};

/** @returns the field and message of the error; empty if the write is accepted */
async function write(
  resource: string,
  spec: object,
  { user = writer, old }: { user?: UserInfo; old?: object } = {},
): Promise<string> {
  const target = catalog.find(group, "v1", resource);
  assert.ok(target !== undefined);
  const make = (spec: object): KubeObject => ({
    apiVersion: `${group}/v1`,
    kind: target.resource.definition.kind,
    metadata: { name: "x" },
    spec,
  });
  const attributes = {
    ...{
      target,
      user,
      name: "x",
      pathName: "x",
      namespace: "",
      subresource: "",
      dryRun: false,
      warnings: [],
      options: () => ({}),
      undo: [],
      done: [],
      joint: [],
      object: make(spec),
    },
    ...(old === undefined
      ? { operation: "CREATE" as const, oldObject: undefined }
      : { operation: "UPDATE" as const, oldObject: make(old) }),
  };
  checked.length = 0;
  try {
    await policyParameters(catalog, authorize).authorize?.(attributes);
  } catch (error) {
    const [{ reason, field, message } = {} as StatusCause] = (error as ApiError).status.details?.causes ?? [];
    assert.equal(reason, "FieldValueForbidden");
    return `${field}: ${message?.replace(/^Forbidden: /, "")}`;
  }
  return "";
}

const configMap = { apiVersion: "v1", kind: "ConfigMap" };
const unknown = { apiVersion: "none.example.com/v1", kind: "No" };

for (const policies of ["validatingadmissionpolicies", "mutatingadmissionpolicies"]) {
  test(`${policies}: a paramKind requires the permission to read all its objects`, async () => {
    const forbidden = (which: string): string =>
      `spec.paramKind: user ${formattedUser} must have "get" permission on all objects of the referenced paramKind (${which})`;
    assert.equal(await write(policies, { paramKind: configMap }), forbidden("kind=ConfigMap, apiVersion=v1"));
    assert.deepEqual(checked, ["get /v1/configmaps */*"]);
    assert.equal(await write(policies, { paramKind: unknown }), forbidden("kind=No, apiVersion=none.example.com/v1"));
    assert.deepEqual(checked, ["get none.example.com/v1/* */*"]);
    assert.equal(
      await write(policies, { paramKind: configMap }, { old: { paramKind: unknown } }),
      forbidden("kind=ConfigMap, apiVersion=v1"),
    );
  });

  test(`${policies}: does not check access without a paramKind, for an unchanged one, and for administrators`, async () => {
    assert.equal(await write(policies, {}), "");
    assert.equal(await write(policies, { paramKind: configMap }, { old: { paramKind: configMap } }), "");
    assert.equal(
      await write(policies, { paramKind: configMap }, { user: { ...writer, groups: ["system:masters"] } }),
      "",
    );
    assert.deepEqual(checked, []);
  });
}

const kinds = [
  ["validatingadmissionpolicies", `user ${formattedUser} does not have "get" permission`],
  ["mutatingadmissionpolicies", `user get does not have "${formattedUser}" permission`],
] as const;

for (const [policies, message] of kinds) {
  const bindings = policies.replace(/policies$/, "policybindings");
  const specs: Readonly<Record<string, object>> = {
    maps: { paramKind: configMap },
    odd: { paramKind: unknown },
    without: {},
  };

  test(`${bindings}: a paramRef requires the permission to read the parameters`, async () => {
    for (const [name, spec] of Object.entries(specs)) await store(policies, name, spec);
    const named = (policyName: string, name = "ok"): object => ({ policyName, paramRef: { name, namespace: "n" } });
    assert.equal(await write(bindings, named("maps")), "");
    assert.equal(
      await write(bindings, named("maps", "other")),
      `spec.paramRef: ${message} on the object referenced by paramRef`,
    );
    assert.equal(
      await write(bindings, named("without")),
      `spec.paramRef: ${message} on the object referenced by paramRef`,
    );
    assert.deepEqual(checked, ["get */*/* n/ok"]);
    const rights = `to determine minimum required permissions and user ${formattedUser} does not have "get" permission for all groups, versions and resources`;
    assert.equal(await write(bindings, named("missing")), `spec.paramRef: unable to get policy missing ${rights}`);
    assert.deepEqual(checked, ["get */*/* n/ok"]);
    assert.equal(
      await write(bindings, named("odd")),
      `spec.paramRef: unable to resolve paramKind &{none.example.com/v1 No} ${rights}`,
    );
    await write(bindings, { policyName: "maps", paramRef: { selector: {} } });
    assert.deepEqual(checked, ["list /v1/configmaps /"]);
  });

  test(`${bindings}: checks access also for an unchanged paramRef, but not without one`, async () => {
    const spec = { policyName: "maps", paramRef: { name: "other", namespace: "n" } };
    assert.notEqual(await write(bindings, spec, { old: spec }), "");
    assert.equal(await write(bindings, { policyName: "maps" }), "");
    assert.equal(await write(bindings, spec, { user: { ...writer, groups: ["system:masters"] } }), "");
  });
}

async function store(resource: string, name: string, spec: object): Promise<void> {
  const found = catalog.findResource(group, resource);
  assert.ok(found?.store !== undefined);
  const object = { apiVersion: `${group}/v1`, kind: found.definition.kind, metadata: { name, uid: "u" }, spec };
  const key = found.store.keyOf("", name);
  await opened.registry.storage.commit([], [{ key, value: Buffer.from(JSON.stringify(object)) }]);
  await found.store.cache.current();
}
