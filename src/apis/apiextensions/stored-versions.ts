/**
 * Converts CustomResourceDefinitions of apiextensions.k8s.io/v1beta1, the version at which
 * kube-apiserver stores them. Sources: `v1beta1/defaults.go` and `v1/conversion.go` of
 * `k8s.io/apiextensions-apiserver@v0.36.0/pkg/apis/apiextensions`.
 */
import type { StoredConversion } from "../../catalog/contract.ts";
import { cloneJson, deepEqual } from "../../lib/json/values.ts";
import { items, type Part, setAbsent, struct } from "../fields.ts";

/** Definitions of v1beta1. */
export const definitionV1beta1: StoredConversion = {
  toStorage(object) {
    const spec = struct(object, "spec");
    setAbsent(spec, { scope: "Namespaced", preserveUnknownFields: true });
    if (items(spec.versions).length === 0 && spec.version)
      spec.versions = [{ name: spec.version, served: true, storage: true }];
    const stored = items(spec.versions).find(({ storage }) => storage === true);
    const status = struct(object, "status");
    if (items(status.storedVersions).length === 0 && stored !== undefined) status.storedVersions = [stored.name ?? ""];
    for (const version of items(spec.versions)) renameColumnPaths(version);
    renameColumnPaths(spec);
    distribute(spec);
    if (spec.conversion) spec.conversion = convertConversion(spec.conversion);
    return object;
  },
  toShared(object) {
    const { versions, conversion, preserveUnknownFields = false, ...spec } = (object.spec ?? {}) as Part;
    const own = items(versions).map((version) => ({ ...version }));
    const shared = collectShared(own);
    for (const version of [shared, ...own]) restoreColumnPaths(version);
    const webhook = conversion?.webhook;
    return {
      ...object,
      spec: {
        ...spec,
        ...(own[0] !== undefined && { version: own[0].name }),
        ...shared,
        versions: own,
        preserveUnknownFields, // If it is absent, it is true at v1beta1.
        ...(conversion && {
          conversion: {
            strategy: conversion.strategy,
            webhookClientConfig: webhook?.clientConfig,
            conversionReviewVersions: webhook?.conversionReviewVersions,
          },
        }),
      },
    };
  },
};

/** Names of the fields of a version, and of the same fields for all versions. */
const sharedFields = [
  ["subresources", "subresources"],
  ["schema", "validation"],
  ["additionalPrinterColumns", "additionalPrinterColumns"],
  ["selectableFields", "selectableFields"],
] as const;

/** Removes the fields that are equal in all versions. @returns them */
function collectShared(versions: readonly Part[]): Part {
  const shared: Part = {};
  for (const [field, name] of sharedFields) {
    const first = versions[0]?.[field];
    if (first === undefined || !versions.every((version) => deepEqual(version[field], first))) continue;
    shared[name] = first;
    for (const version of versions) delete version[field];
  }
  return shared;
}

/** Reverses {@link renameColumnPaths}, in a copy of the columns. */
function restoreColumnPaths(holder: Part): void {
  if (holder.additionalPrinterColumns === undefined) return;
  holder.additionalPrinterColumns = items(holder.additionalPrinterColumns).map(({ jsonPath, ...column }) => ({
    ...column,
    JSONPath: jsonPath,
  }));
}

/** Moves the fields that all versions share to each of them. */
function distribute(spec: Part): void {
  const { subresources, validation, additionalPrinterColumns, selectableFields } = spec;
  const shared = { subresources, schema: validation, additionalPrinterColumns, selectableFields };
  for (const version of items(spec.versions))
    for (const [field, value] of Object.entries(shared)) if (value) version[field] = cloneJson(value);
  for (const field of ["version", "subresources", "validation", "additionalPrinterColumns", "selectableFields"])
    delete spec[field];
}

/** The path of a column is `JSONPath` in v1beta1. */
function renameColumnPaths({ additionalPrinterColumns }: Part): void {
  for (const column of items(additionalPrinterColumns)) {
    column.jsonPath = column.JSONPath ?? "";
    delete column.JSONPath;
  }
}

function convertConversion({ webhookClientConfig: clientConfig, conversionReviewVersions, ...rest }: Part): Part {
  const versions =
    items(conversionReviewVersions).length === 0 && rest.strategy === "Webhook"
      ? ["v1beta1"]
      : conversionReviewVersions;
  if (!clientConfig && !versions) return rest;
  return {
    ...rest,
    webhook: { ...(clientConfig && { clientConfig }), ...(versions && { conversionReviewVersions: versions }) },
  };
}
