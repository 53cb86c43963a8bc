/**
 * Secret: `stringData` is merged into `data`, and well-known types require keys.
 * Sources:
 * `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/validation.go`,
 * `k8s.io/kubernetes@v1.36.0/pkg/registry/core/secret/strategy.go`.
 */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { addInvalid, validateMetaAgainIfNeeded } from "../../apimachinery/validation/metadata.ts";
import { ageColumn, nameColumn } from "../../catalog/common-columns.ts";
import { strategy } from "../../catalog/strategy.ts";
import type { Column } from "../../catalog/strategy-contract.ts";
import { JsonSyntaxError, parseJson } from "../../lib/json/parse.ts";
import { setMember } from "../../lib/json/values.ts";
import { configMapKeyProblems, dnsSubdomainProblems } from "../../lib/names/names.ts";
import { count, metaCells, text } from "../column.ts";
import { checkImmutable, selectableAt } from "../fields.ts";
import { keyPairProblem } from "./key-pair.ts";
import { checkImmutableValues, decodedBytes, entries, valuesBytesMax } from "./key-values.ts";

/** Source: `k8s.io/kubernetes@v1.36.0/pkg/printers/internalversion/printers.go`. */
const secretColumns: readonly Column[] = [
  nameColumn,
  text(
    "Type",
    "Used to facilitate programmatic handling of secret data. More info: https://kubernetes.io/docs/concepts/configuration/secret/#secret-types",
    ({ type }) => type ?? "",
  ),
  text(
    "Data",
    "Data contains the secret data. Each key must consist of alphanumeric characters, '-', '_' or '.'. The serialized form of the secret data is a base64 encoded string, representing the arbitrary (possibly non-string) data value here. Described in https://tools.ietf.org/html/rfc4648#section-4",
    ({ data }) => count(data),
  ),
  ageColumn,
];

/** Strategy of `secrets`. */
export const secret = strategy({
  columns: secretColumns,
  cellPaths: [...metaCells, "type", "data.*"],
  isolatesStatus: false,
  selectableFields: selectableAt("type"),
  setDefaults(object) {
    if ((object.type ?? "") === "") object.type = "Opaque";
    const { stringData } = object;
    delete object.stringData;
    for (const [key, value] of entries(stringData)) {
      object.data ??= {};
      setMember(object.data, key, Buffer.from(value).toString("base64"));
    }
  },
  prepareForUpdate(next, old) {
    if ((next.type ?? "") === "") next.type = old.type; // Clients that predate the field omit it.
  },
  validate,
  validateUpdate(next, old, errors) {
    checkImmutable(next.type, old.type, "type", errors);
    checkImmutableValues(next, old, ["data"], errors);
    validateMetaAgainIfNeeded(next.metadata, { namespaced: true, validateName: dnsSubdomainProblems }, errors);
    validate(next, errors);
  },
  warnings: warningsOf,
});

/** Warns of TLS keys that do not match their certificate. */
function warningsOf({ type, data }: KubeObject): string[] {
  if (type !== "kubernetes.io/tls") return [];
  const textOf = (key: string): string => Buffer.from(data?.[key] ?? "", "base64").toString("latin1");
  const problem = keyPairProblem(textOf("tls.crt"), textOf("tls.key"));
  return problem === undefined ? [] : [problem];
}

function validate(object: KubeObject, errors: FieldErrors): void {
  let bytes = 0;
  for (const [key, value] of entries(object.data)) {
    addInvalid(errors, `data[${key}]`, key, configMapKeyProblems(key));
    bytes += decodedBytes(value);
  }
  if (bytes > valuesBytesMax) errors.tooLong("data", valuesBytesMax);
  typeRules.get(object.type)?.(object, errors);
}

/** Validation of the well-known types. */
const typeRules = new Map<string, (object: KubeObject, errors: FieldErrors) => void>([
  ["kubernetes.io/service-account-token", requireServiceAccount],
  ["kubernetes.io/dockercfg", (object, errors) => requireJson(object, ".dockercfg", errors)],
  ["kubernetes.io/dockerconfigjson", (object, errors) => requireJson(object, ".dockerconfigjson", errors)],
  ["kubernetes.io/basic-auth", requireUserOrPassword],
  ["kubernetes.io/ssh-auth", (object, errors) => requireFilled(object, "ssh-privatekey", errors)],
  ["kubernetes.io/tls", requireKeyPair],
]);

const has = (object: KubeObject, key: string): boolean => Object.hasOwn(object.data ?? {}, key);

function requireKeyPair(object: KubeObject, errors: FieldErrors): void {
  for (const key of ["tls.crt", "tls.key"]) if (!has(object, key)) errors.required(`data[${key}]`);
}

function requireFilled(object: KubeObject, key: string, errors: FieldErrors): void {
  if (!has(object, key) || object.data[key] === "") errors.required(`data[${key}]`);
}

function requireUserOrPassword(object: KubeObject, errors: FieldErrors): void {
  if (has(object, "username") || has(object, "password")) return;
  errors.required("data[username]");
  errors.required("data[password]");
}

function requireServiceAccount(object: KubeObject, errors: FieldErrors): void {
  const annotation = "kubernetes.io/service-account.name";
  if ((object.metadata.annotations?.[annotation] ?? "") === "") errors.required(`metadata.annotations[${annotation}]`);
}

function requireJson(object: KubeObject, key: string, errors: FieldErrors): void {
  if (!has(object, key)) return errors.required(`data[${key}]`);
  const problem = jsonProblem(Buffer.from(object.data[key], "base64"));
  if (problem !== undefined) errors.invalid(`data[${key}]`, "<secret contents redacted>", problem);
}

function jsonProblem(bytes: Buffer): string | undefined {
  try {
    parseJson(bytes);
    return undefined;
  } catch (error) {
    if (error instanceof JsonSyntaxError) return error.message;
    throw error;
  }
}
