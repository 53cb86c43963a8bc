/** Types of built-in kinds in expressions. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { builtinSchema } from "../../../catalog/builtin-schemas.ts";
import { CelSyntaxError, formatType, kubernetesEnvironment } from "../index.ts";
import { declTypeOfStruct } from "./decl-type-of-struct.ts";
import { typeRegistry } from "./type-registry.ts";

const rows: readonly [definition: string, text: string, expected: string][] = [
  ["io.k8s.api.core.v1.Pod", "object.spec.containers", "list(object.spec.containers.@idx)"],
  ["io.k8s.api.core.v1.Pod", "object.spec.containers[0].image", "string"],
  ["io.k8s.api.core.v1.Pod", "object.metadata.labels", "map(string, string)"],
  ["io.k8s.api.core.v1.Pod", "object.metadata.__namespace__", "string"],
  ["io.k8s.api.core.v1.Pod", "object.metadata.namespace", "string"],
  ["io.k8s.api.core.v1.Pod", "object.metadata.creationTimestamp", "timestamp"],
  [
    "io.k8s.api.core.v1.Pod",
    "object.metadata.managedFields[0].fieldsV1",
    "object.metadata.managedFields.@idx.fieldsV1",
  ],
  ["io.k8s.api.core.v1.Pod", "object.spec.containers[0].livenessProbe.httpGet.port", "dyn"],
  ["io.k8s.api.core.v1.Pod", "object.spec.terminationGracePeriodSeconds + 1", "int"],
  ["io.k8s.api.core.v1.Pod", "object.spec.containers[0].resources.limits", "undefined field 'limits'"],
  ["io.k8s.api.core.v1.Pod", "object.spec.replicas", "undefined field 'replicas'"],
  ["io.k8s.api.core.v1.Pod", "object.kind == 1", "found no matching overload for '_==_' applied to '(string, int)'"],
  ["io.k8s.api.core.v1.Secret", "object.data['a']", "bytes"],
  ["io.k8s.api.apps.v1.Deployment", "object.spec.strategy.rollingUpdate.maxSurge", "dyn"],
  ["io.k8s.api.apps.v1.Deployment", "object.spec.template.spec.containers[0].name", "string"],
  ["io.k8s.api.coordination.v1.Lease", "object.spec.renewTime", "timestamp"],
  [
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition",
    "object.spec.versions[0].schema.openAPIV3Schema.properties['a']",
    "object.spec.versions.@idx.schema.openAPIV3Schema.properties.@elem",
  ],
];

function typeOf(definition: string, text: string): string {
  const types = typeRegistry();
  const type = types.typeOf(declTypeOfStruct(builtinSchema(definition)), "object");
  const environment = kubernetesEnvironment([1, 36]).extend({ types, variables: [{ name: "object", type }] });
  try {
    return formatType(environment.compile(text).type);
  } catch (error) {
    if (error instanceof CelSyntaxError) return error.issues.map(({ message }) => message).join("; ");
    throw error;
  }
}

for (const [definition, text, expected] of rows)
  test(`types ${text} of ${definition} as ${expected}`, () => assert.equal(typeOf(definition, text), expected));
