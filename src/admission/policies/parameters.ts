/**
 * The parameters of policies: objects of any kind, which bindings select. Source: `CollectParams` in
 * k8s.io/apiserver@v0.36.0/pkg/admission/plugin/policy/generic/policy_dispatcher.go.
 */
import { formatGroupVersion, type KubeObject, parseGroupVersion } from "../../apimachinery/object.ts";
import type { Catalog, Resolved } from "../../catalog/contract.ts";
import { asGoNumbers } from "../../lib/json/number-literal.ts";
import { parseEncoded } from "../../lib/json/parse.ts";
import { matchesLabels } from "../../lib/selectors/label.ts";
import { labelSelectorFromObject } from "../../lib/selectors/label-object.ts";
import { atVersion } from "../../registry/patch.ts";
import type { Entry } from "../../watch-cache/contract.ts";
import type { Binding, Param, ParamKind } from "./contract.ts";

/** A policy or binding cannot be evaluated; the message is upstream's. */
export class ConfigurationError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ConfigurationError";
  }
}

/**
 * Finds the served resource of a policy's parameters.
 *
 * @returns undefined for a policy without parameters
 * @throws ConfigurationError
 */
export function paramResource(catalog: Catalog, paramKind: ParamKind | undefined): Resolved | undefined {
  if (paramKind === undefined) return undefined;
  const { apiVersion = "", kind = "" } = paramKind;
  const { group, version } = parseGroupVersion(apiVersion) ?? { group: "", version: "" };
  const found = catalog.findKind(group, version, kind);
  const { resource } = found?.resource.definition ?? {};
  if (resource === undefined || catalog.findServed(group, version, resource) === undefined)
    throw new ConfigurationError(
      `failed to find resource referenced by paramKind: '${group}/${version}, Kind=${kind}'`,
    );
  return found;
}

/**
 * Reads the parameters of a binding from the watch cache.
 *
 * @param resource undefined if the policy has no parameters
 * @param namespace of the request, empty for cluster-scoped objects
 * @returns an evaluation for each; empty if there are none and the binding allows that
 * @throws ConfigurationError, ApiError when a conversion webhook fails
 */
export async function findParams(
  resource: Resolved | undefined,
  { paramRef }: Pick<Binding, "paramRef">,
  namespace: string,
): Promise<readonly Param[]> {
  if (resource === undefined || paramRef === undefined) return [null];
  const { definition, store } = resource.resource;
  const own = paramRef.namespace ?? "";
  const place = own === "" ? namespace : own;
  if (definition.namespaced && place === "")
    throw new ConfigurationError(
      "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources",
    );
  if (store === undefined) {
    const { group, kind } = definition;
    const apiVersion = formatGroupVersion(group, resource.version.version);
    throw new ConfigurationError(
      `paramKind kind \`&ParamKind{APIVersion:${apiVersion},Kind:${kind},}\` not yet synced to use for admission`,
    );
  }
  if (!definition.namespaced && own !== "")
    throw new ConfigurationError("paramRef.namespace must not be provided for a cluster-scoped `paramKind`");
  await store.cache.ready();
  const entries = entriesOf(resource, paramRef, definition.namespaced ? place : "");
  if (entries.length === 0 && paramRef.parameterNotFoundAction === "Deny")
    throw new ConfigurationError("no params found for policy binding with `Deny` parameterNotFoundAction");
  const params: KubeObject[] = [];
  for (const entry of entries) params.push(await paramOf(resource, entry));
  return params;
}

function entriesOf(
  { resource: { store } }: Resolved,
  { name = "", selector }: NonNullable<Binding["paramRef"]>,
  namespace: string,
): readonly Entry[] {
  if (store === undefined) return [];
  const snapshot = store.cache.latest();
  if (name !== "") {
    const entry = snapshot.get(store.keyOf(namespace, name));
    return entry === undefined ? [] : [entry];
  }
  if (selector === undefined) throw new ConfigurationError("one of name or selector must be provided");
  const parsed = labelSelectorFromObject(selector);
  const prefix = namespace === "" ? store.form.prefix : `${store.form.prefix}${namespace}/`;
  return [...snapshot.range(prefix)].filter(({ index }) => matchesLabels(parsed, index.labels));
}

/** The object at the version of `paramKind`. */
async function paramOf(resolved: Resolved, entry: Entry): Promise<KubeObject> {
  const { resource, converted, version } = resolved;
  if (converted === undefined && version.conversion !== undefined)
    return atVersion(resource.store?.decode(entry) as KubeObject, resolved);
  const object =
    converted === undefined ? (parseEncoded(entry.json, asGoNumbers) as KubeObject) : await converted.present(entry);
  object.apiVersion = formatGroupVersion(resource.definition.group, version.version);
  return object;
}
