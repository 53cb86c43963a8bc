/** The schemas, conversions and reset fields of a resource, for the merge. */
import { formatGroupVersion, type KubeObject, parseGroupVersion } from "../../apimachinery/object.ts";
import { builtinSchema } from "../../catalog/builtin-schemas.ts";
import type { Resolved, Resource, ServedVersion } from "../../catalog/contract.ts";
import { cloneJson } from "../../lib/json/values.ts";
import type { Struct } from "../../lib/schema/schema.ts";
import { emptySet, type PathSet } from "../../lib/structured-merge/set.ts";
import { type PlainMap, TypedError } from "../../lib/structured-merge/typed.ts";
import type { MergeContext } from "../../lib/structured-merge/updater.ts";
import { validateIntent } from "../../lib/structured-merge/validate.ts";
import type { Conversions } from "./conversions.ts";
import { scaleVersion } from "./scale.ts";

/** A write that is merged. */
export interface MergedWrite {
  readonly target: Resolved;
  /** Empty for the main resource. */
  readonly subresource: string;
  /** The fields that the write resets, and so does not own. */
  readonly resets: PathSet;
}

/**
 * The merge context of a write.
 * @param conversions from `withConversions`, for resources with a conversion webhook
 */
export function mergeContext({ target, subresource, resets }: MergedWrite, conversions?: Conversions): MergeContext {
  const { resource } = target;
  const requested = formatGroupVersion(resource.definition.group, target.version.version);
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
      apiVersion === requested || subresource !== "" || !resource.definition.custom ? resets : emptySet,
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

/** The merge context of a Scale, which has one version. */
export function scaleContext(): MergeContext {
  const schema = builtinSchema("io.k8s.api.autoscaling.v1.Scale");
  return {
    schemaOf: (version) => (version === scaleVersion ? schema : undefined),
    convert: (object) => object,
    ignored: () => emptySet,
  };
}
