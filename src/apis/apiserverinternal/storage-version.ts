/**
 * StorageVersion: the versions at which the servers of a cluster store a resource.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/apis/apiserverinternal/validation/validation.go`.
 */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { addInvalid } from "../../apimachinery/validation/metadata.ts";
import { ageColumn, nameColumn } from "../../catalog/common-columns.ts";
import { strategy } from "../../catalog/strategy.ts";
import { dns1035LabelProblems, dnsSubdomainProblems, qualifiedNameProblems } from "../../lib/names/names.ts";
import { firstThree, text } from "../column.ts";
import { items, keepMetaForStatus, type Part } from "../fields.ts";

/** The strategy of StorageVersion. */
export const storageVersion = strategy({
  columns: [
    nameColumn,
    text(
      "CommonEncodingVersion",
      "commonEncodingVersion is set to an encoding storage version if all API server instances share that same version. If they don't share one storage version, this field is left empty. API servers should finish updating its storageVersionStatus entry before serving write operations, so that this field will be in sync with the reality.",
      ({ status }) => status?.commonEncodingVersion ?? "<unset>",
    ),
    text("StorageVersions", "storageVersions lists the reported versions per API server instance.", storageVersions),
    ageColumn,
  ],
  repeatsMetaRules: false,
  validateName: nameProblems,
  prepareForStatusUpdate: keepMetaForStatus,
  validateStatusUpdate: ({ status = {} }: KubeObject, _old, errors) => validateStatus(status, errors),
});

/** Validates a name: `group.resource`. */
function nameProblems(name: string): string[] {
  const dot = name.lastIndexOf(".");
  if (dot < 0) return ["name must be in the form of <group>.<resource>"];
  return [
    ...dnsSubdomainProblems(name.slice(0, dot)).map((problem) => `the group segment ${problem}`),
    ...dns1035LabelProblems(name.slice(dot + 1)).map((problem) => `the resource segment ${problem}`),
  ];
}

function validateStatus({ storageVersions, commonEncodingVersion, conditions }: Part, errors: FieldErrors): void {
  const ids = new Set<string>();
  for (const [index, server] of items(storageVersions).entries()) {
    const path = `status.storageVersions[${index}]`;
    const { apiServerID = "" } = server;
    if (ids.has(apiServerID)) errors.duplicate(`${path}.apiServerID`, apiServerID);
    ids.add(apiServerID);
    validateServer(server, path, errors);
  }
  validateCommonVersion(items(storageVersions), commonEncodingVersion, errors);
  validateConditions(items(conditions), errors);
}

function validateServer(server: Part, path: string, errors: FieldErrors): void {
  const { apiServerID = "", encodingVersion = "", decodableVersions, servedVersions = [] } = server;
  addInvalid(errors, `${path}.apiServerID`, apiServerID, dnsSubdomainProblems(apiServerID));
  validateVersion(encodingVersion, `${path}.encodingVersion`, errors);
  const decodable: readonly string[] = decodableVersions ?? [];
  for (const [index, version] of decodable.entries())
    validateVersion(version, `${path}.decodableVersions[${index}]`, errors);
  if (!decodable.includes(encodingVersion)) {
    errors.invalid(
      `${path}.decodableVersions`,
      decodableVersions ?? null,
      `decodableVersions must include encodingVersion ${encodingVersion}`,
    );
  }
  for (const [index, version] of servedVersions.entries()) {
    const at = `${path}.servedVersions[${index}]`;
    validateVersion(version, at, errors);
    if (decodable.includes(version)) continue;
    errors.invalid(
      at,
      version,
      `individual served version : ${version} must be included in decodableVersions : [${decodable.join(" ")}]`,
    );
  }
}

function validateVersion(version: string, path: string, errors: FieldErrors): void {
  const problems = versionProblems(version);
  if (problems.length > 0) errors.invalid(path, version, problems.join(","));
}

const labelText =
  "a DNS-1035 label, which must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

/** Validates a version: `v1` or `group/v1`. */
function versionProblems(text: string): string[] {
  const parts = text.split("/", 3);
  if (parts.length > 2)
    return [
      `an apiVersion is ${labelText} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyVersion')`,
    ];
  const version = parts.at(-1) as string;
  const group = parts.length === 2 ? partProblems(parts[0] as string, dnsSubdomainProblems) : [];
  return [
    ...group.map((problem) => `group part: ${problem}`),
    ...partProblems(version, dns1035LabelProblems).map((problem) => `version part: ${problem}`),
  ];
}

const partProblems = (text: string, problemsOf: (text: string) => string[]): string[] =>
  text === "" ? ["must be non-empty"] : problemsOf(text);

/** Reports a common version that is not that of all servers. */
function validateCommonVersion(servers: readonly Part[], stated: string | undefined, errors: FieldErrors): void {
  const path = "status.commonEncodingVersion";
  const [first, ...others] = servers.map(({ encodingVersion = "" }) => encodingVersion as string);
  const common = others.every((version) => version === first) ? first : undefined;
  if (common === stated) return;
  if (common === undefined) {
    const why =
      "should be nil if servers do not agree on the same encoding version, or if there is no server reporting the supported versions yet";
    errors.invalid(path, stated, why);
  } else if (stated === undefined) errors.invalid(path, null, `the common encoding version is ${common}`);
  else errors.invalid(path, stated, `the actual common encoding version is ${common}`);
}

/** Upstream's error paths do not have the name of the list. */
function validateConditions(conditions: readonly Part[], errors: FieldErrors): void {
  const seen = new Map<string, number>();
  for (const [index, { type = "", status = "", reason = "", message = "" }] of conditions.entries()) {
    const path = `status[${index}]`;
    const before = seen.get(type);
    if (before !== undefined) {
      errors.invalid(
        `${path}.type`,
        type,
        `the type of the condition is not unique, it also appears in conditions[${before}]`,
      );
    }
    seen.set(type, index);
    addInvalid(errors, `${path}.type`, type, qualifiedNameProblems(type));
    addInvalid(errors, `${path}.status`, status, qualifiedNameProblems(status));
    if (reason === "") errors.required(`${path}.reason`);
    if (message === "") errors.required(`${path}.message`);
  }
}

function storageVersions({ status }: KubeObject): string {
  return (
    firstThree(
      items(status?.storageVersions).map(
        ({ apiServerID, encodingVersion }) => `${apiServerID ?? ""}=${encodingVersion ?? ""}`,
      ),
    ) || "<unset>"
  );
}
