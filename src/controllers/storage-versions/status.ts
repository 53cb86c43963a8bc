/**
 * The objects StorageVersion: the versions at which each server stores and reads a resource.
 * Source: `k8s.io/apiserver@v0.36.0/pkg/storageversion/updater.go`.
 */
import { formatTime } from "../../apimachinery/clock.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Catalog, Resolved, ResourceStore } from "../../catalog/contract.ts";
import type { RegistryContext } from "../../registry/contract.ts";

/** Where the objects are stored. */
export interface StorageVersions {
  readonly target: Resolved;
  readonly store: ResourceStore;
}

/** @returns undefined when the kind is not served */
export function findStorageVersions(catalog: Catalog): StorageVersions | undefined {
  const target = catalog.findServed("internal.apiserver.k8s.io", "v1alpha1", "storageversions");
  const store = target?.resource.store;
  return target === undefined || store === undefined ? undefined : { target, store };
}

/** Whether the gates and the served versions permit reports. */
export function reportsStorageVersions({ catalog, gates }: Pick<RegistryContext, "catalog" | "gates">): boolean {
  const isEnabled = ["StorageVersionAPI", "APIServerIdentity"].every((gate) => gates.enabled(gate));
  return isEnabled && findStorageVersions(catalog) !== undefined;
}

/** What one server says about a resource. */
export interface ServerStorageVersion {
  readonly apiServerID: string;
  readonly encodingVersion: string;
  readonly decodableVersions: readonly string[];
  readonly servedVersions: readonly string[];
}

export function serversOf({ status }: KubeObject): readonly ServerStorageVersion[] {
  return status?.storageVersions ?? [];
}

/** Replaces what the servers say, and what follows from that. */
export function setServers(object: KubeObject, servers: readonly ServerStorageVersion[], now: number): void {
  const before: string | undefined = object.status?.commonEncodingVersion;
  const conditions: readonly Record<string, unknown>[] = object.status?.conditions ?? [];
  const [first, ...others] = servers;
  const agree = first !== undefined && others.every((other) => other.encodingVersion === first.encodingVersion);
  const common = agree ? first.encodingVersion : undefined;
  const old = conditions.find(({ type }) => type === conditionType);
  const status = common === undefined ? "False" : "True";
  const isSame = old?.status === status && (before === undefined || common === undefined || before === common);
  const generation = Number(object.metadata.generation ?? 0);
  const condition = {
    type: conditionType,
    status,
    ...(generation !== 0 && { observedGeneration: generation }),
    lastTransitionTime: isSame ? old.lastTransitionTime : formatTime(now),
    reason: common === undefined ? "CommonEncodingVersionUnset" : "CommonEncodingVersionSet",
    message: common === undefined ? "Common encoding version unset" : "Common encoding version set",
  };
  object.status = {
    ...(servers.length > 0 && { storageVersions: servers }),
    ...(common !== undefined && { commonEncodingVersion: common }),
    conditions:
      old === undefined ? [...conditions, condition] : conditions.map((one) => (one === old ? condition : one)),
  };
}

const conditionType = "AllEncodingVersionsEqual";
