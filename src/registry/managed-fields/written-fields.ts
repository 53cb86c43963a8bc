/** The writer of a request, and the fields that its write can own. */
import { formatGroupVersion } from "../../apimachinery/object.ts";
import { fieldManagerBytesMax, plainManager } from "../../apimachinery/validation/metadata.ts";
import type { Resolved, Resource } from "../../catalog/contract.ts";
import { isPrintable } from "../../lib/json/quote.ts";
import type { ManagerInfo } from "../../lib/managed-fields/entries.ts";
import type { Struct } from "../../lib/schema/schema.ts";
import { fieldElement } from "../../lib/structured-merge/fields-v1.ts";
import { emptySet, type PathSet, pathSetOf } from "../../lib/structured-merge/set.ts";
import type { PlainMap } from "../../lib/structured-merge/typed.ts";
import { hasTypes } from "../../lib/structured-merge/validate.ts";
import type { WriteRequest } from "../contract.ts";

/** The identity under which the client's changes are owned. */
export function writerOf(request: WriteRequest, apiVersion: string): ManagerInfo {
  return { manager: managerName(request), operation: "Update", apiVersion, subresource: request.subresource };
}

/** The field manager, or the user agent up to the first slash. */
function managerName({ fieldManager, userAgent }: Pick<WriteRequest, "fieldManager" | "userAgent">): string {
  if (fieldManager !== "") return fieldManager;
  const sent = userAgent.split("/", 1)[0] as string;
  if (plainManager.test(sent)) return sent;
  let name = "";
  let bytes = 0;
  for (const character of sent) {
    if (!isPrintable(character)) continue;
    bytes += Buffer.byteLength(character);
    if (bytes > fieldManagerBytesMax) break;
    name += character;
  }
  return name === "" ? "unknown" : name;
}

/** The apiVersion of the request. */
export function requestVersion({ resource, version }: Resolved): string {
  return formatGroupVersion(resource.definition.group, version.version);
}

/**
 * Fields that a write resets, in addition to those that resetFields derives. By group, resource and
 * subresource, which is empty for the main resource.
 */
const additionalResets: Readonly<Record<string, readonly (readonly string[])[]>> = {
  "/pods/status": [
    ["metadata", "deletionTimestamp"],
    ["metadata", "ownerReferences"],
  ],
  "/namespaces/finalize": [["status"]],
  "apiregistration.k8s.io/apiservices/status": [["metadata"]],
  "apps/deployments/status": [["metadata", "labels"]],
  "certificates.k8s.io/certificatesigningrequests/": [["spec"]],
  "certificates.k8s.io/certificatesigningrequests/approval": [["spec"], ["status", "certificate"]],
  "certificates.k8s.io/certificatesigningrequests/status": [["status", "conditions"]],
  "internal.apiserver.k8s.io/storageversions/status": [["metadata"]],
  "networking.k8s.io/servicecidrs/status": [["metadata"]],
  "scheduling.k8s.io/podgroups/status": [["metadata"]],
  "storage.k8s.io/volumeattachments/status": [["metadata"]],
  "storagemigration.k8s.io/storageversionmigrations/status": [["metadata"]],
};

/**
 * The fields that a write of the (sub)resource resets, and so does not own. Source: GetResetFields
 * of upstream's strategies.
 */
export function resetFields({ definition }: Resource, subresource: string): PathSet {
  const { group, resource, strategy, custom } = definition;
  const paths: (readonly string[])[] = [...(additionalResets[`${group}/${resource}/${subresource}`] ?? [])];
  if (subresource === "" && strategy.isolatesStatus) paths.push(["status"]);
  if (subresource === "status") paths.push(["spec"], ...(custom ? [["metadata"]] : []));
  return paths.length === 0 ? emptySet : pathSetOf(paths.map((path) => path.map(fieldElement)));
}

/**
 * Whether the object has the types of its schema. Fields that validation ignores may not: a status
 * that is reset, a list instead of bytes. Upstream cannot compute managers of such an object, and
 * removes all.
 */
export function isTyped({ resource: { definition } }: Resolved, schema: Struct | undefined, object: PlainMap): boolean {
  if (schema === undefined || !definition.custom) return true;
  const { metadata: _, ...fields } = object;
  return hasTypes(fields, schema);
}
