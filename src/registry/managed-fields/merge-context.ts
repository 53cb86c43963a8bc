/** The schemas, conversions and reset fields of a resource, for the merge. */
import { formatGroupVersion, type KubeObject, parseGroupVersion } from "../../apimachinery/object.ts";
import { builtinSchema } from "../../catalog/builtin-schemas.ts";
import type { Resolved, Resource, ServedVersion } from "../../catalog/contract.ts";
import { cloneJson } from "../../lib/json/values.ts";
import type { Struct } from "../../lib/schema/schema.ts";
import { fieldElement } from "../../lib/structured-merge/fields-v1.ts";
import { emptySet, type PathSet, pathSetOf } from "../../lib/structured-merge/set.ts";
import { type PlainMap, TypedError } from "../../lib/structured-merge/typed.ts";
import type { MergeContext } from "../../lib/structured-merge/updater.ts";
import { validateIntent } from "../../lib/structured-merge/validate.ts";
import type { Conversions } from "./conversions.ts";
import { scaleVersion } from "./scale.ts";

/**
 * The merge context of a write.
 * @param subresource empty for the main resource
 * @param conversions from `withConversions`, for resources with a conversion webhook
 */
export function mergeContext(target: Resolved, subresource: string, conversions?: Conversions): MergeContext {
  const { resource } = target;
  const requested = requestVersion(target);
  const ignored = resetFields(resource, subresource);
  return {
    schemaOf(apiVersion) {
      if (parseGroupVersion(apiVersion) === undefined)
        throw new TypedError(`unexpected GroupVersion string: ${apiVersion}`);
      const version = findVersion(resource, apiVersion);
      if (version === undefined && resource.definition.custom) {
        throw new TypedError(`request to convert CR to an invalid group/version: ${apiVersion}`);
      }
      return version?.schema;
    },
    convert(object, from, to) {
      if (from === to) return object;
      const converted = convert(object, from, to);
      validateIntent(converted, findVersion(resource, to)?.schema as Struct); // Upstream rejects duplicates here.
      return converted;
    },
    // Upstream's custom resources reset no fields at other versions, except in `/status`.
    ignored: (apiVersion) =>
      apiVersion === requested || subresource !== "" || !resource.definition.custom ? ignored : emptySet,
  };

  function convert(object: PlainMap, from: string, to: string): PlainMap {
    if (conversions !== undefined) return conversions.convert(object, from, to);
    if (resource.definition.custom) return { ...object, apiVersion: to }; // Unknown fields fail validation later.
    const source = findVersion(resource, from);
    const target = findVersion(resource, to);
    if (source?.conversion === undefined && target?.conversion === undefined) return object;
    const copy = cloneJson(object) as KubeObject;
    copy.metadata ??= {};
    const stored = source?.conversion?.toStorage(copy) ?? copy;
    return (target?.conversion?.fromStorage(stored) ?? stored) as PlainMap;
  }
}

/**
 * Any version of the definition, served or not. Upstream's converter does not find those of another
 * group with the same objects (events).
 */
function findVersion({ definition }: Resource, apiVersion: string): ServedVersion | undefined {
  const parsed = parseGroupVersion(apiVersion);
  if (parsed?.group !== definition.group) return undefined;
  return definition.versions.find(({ version }) => version === parsed.version);
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

/** The apiVersion of the request. */
export function requestVersion({ resource, version }: Resolved): string {
  return formatGroupVersion(resource.definition.group, version.version);
}

/** The merge context of a Scale, which has one version. */
export function scaleContext(): MergeContext {
  const schema = builtinSchema("io.k8s.api.autoscaling.v1.Scale");
  return {
    schemaOf: (version) => (version === scaleVersion ? schema : undefined),
    convert: (object) => object,
    ignored: () => emptySet,
  };
}
