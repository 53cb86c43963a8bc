/**
 * kube-apiserver never starts the cache of parameters of policies again that it has stopped: while a policy with parameters
 * exists, it does not stop it.
 */
import type { Connection } from "./connection.ts";

const place = "/apis/admissionregistration.k8s.io/v1";
const name = "differential-parameters";
const paramKind = { apiVersion: "v1", kind: "ConfigMap" };
const matchConstraints = {
  namespaceSelector: { matchLabels: { [name]: "none" } },
  resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }],
};
const noChange = "[JSONPatch{op: 'test', path: '/kind', value: 'ConfigMap'}]";
const mutation = { patchType: "JSONPatch", jsonPatch: { expression: noChange } };
const paramRef = { name: "none", namespace: "default", parameterNotFoundAction: "Allow" };

/** Creates a policy of each type that applies to nothing. */
export async function keepParameters(connection: Connection): Promise<void> {
  const policies: readonly (readonly [type: string, spec: object, binding: object])[] = [
    ["validating", { validations: [{ expression: "true" }] }, { validationActions: ["Deny"] }],
    ["mutating", { reinvocationPolicy: "Never", mutations: [mutation] }, {}],
  ];
  for (const [type, spec, binding] of policies) {
    await post(connection, `${type}admissionpolicies`, { paramKind, matchConstraints, ...spec });
    await post(connection, `${type}admissionpolicybindings`, { policyName: name, paramRef, ...binding });
  }
}

async function post(connection: Connection, resource: string, spec: object): Promise<void> {
  const body = Buffer.from(JSON.stringify({ metadata: { name }, spec }));
  const headers = { "content-type": "application/json" };
  const { status } = await connection.send({ method: "POST", path: `${place}/${resource}`, headers, body });
  // An emulated release does not have all types.
  if (![201, 404, 409].includes(status)) throw new Error(`${resource} ${name} is answered with ${status}`);
}
