/**
 * The status of a StorageVersionMigration.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/controller/storageversionmigrator/util.go`.
 */

import { formatTime } from "../../apimachinery/clock.ts";
import type { GroupResource, KubeObject } from "../../apimachinery/object.ts";
import type { Resolved, ResourceStore } from "../../catalog/contract.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { unlessConflict } from "../../registry/unless-conflict.ts";
import type { Entry } from "../../watch-cache/contract.ts";
import { update } from "../audited-writes.ts";
import { writesAs } from "../controller-write.ts";

/** Where migrations are stored. */
export interface Migrations {
  readonly target: Resolved;
  readonly store: ResourceStore;
}

type ConditionType = "Running" | "Succeeded" | "Failed";

interface Condition {
  readonly type: ConditionType;
  status: "True" | "False";
  observedGeneration?: number;
  lastTransitionTime: string;
  reason: string;
  message: string;
}

/** The status in a migration. */
export interface MigrationStatus {
  conditions?: Condition[];
  resourceVersion?: string;
}

/** The name of the controller and of its service account. */
export const controllerName = "storage-version-migrator-controller";
const writes = writesAs(controllerName);

export function resourceOf({ spec }: KubeObject): GroupResource {
  const { group = "", resource = "" } = spec?.resource ?? {};
  return { group, resource };
}

export function statusOf({ status }: KubeObject): MigrationStatus {
  return status ?? {};
}

function isTrue(migration: KubeObject, type: ConditionType): boolean {
  return statusOf(migration).conditions?.find((condition) => condition.type === type)?.status === "True";
}

export const isRunning = (migration: KubeObject): boolean => isTrue(migration, "Running");
export const hasSucceeded = (migration: KubeObject): boolean => isTrue(migration, "Succeeded");
export const isFinished = (migration: KubeObject): boolean => hasSucceeded(migration) || isTrue(migration, "Failed");

/** Adds a condition that is true, unless there is one of the type. */
export function addCondition(
  status: MigrationStatus,
  type: ConditionType,
  { reason, message, now }: { readonly reason: string; readonly message: string; readonly now: number },
): void {
  status.conditions ??= [];
  if (status.conditions.some((condition) => condition.type === type)) return;
  status.conditions.push({ type, status: "True", lastTransitionTime: formatTime(now), reason, message });
}

/** Reports that the migration has ended, so that another one of the resource can begin. */
export function endRunning(status: MigrationStatus, { metadata }: KubeObject, now: number): void {
  const running = status.conditions?.find(({ type }) => type === "Running");
  if (running === undefined) return;
  Object.assign(running, {
    status: "False",
    observedGeneration: Number(metadata.generation ?? 0),
    lastTransitionTime: formatTime(now),
    reason: "MigrationCompleted",
    message: "Migration completed",
  });
}

/**
 * Writes the state that was checked, with a changed status.
 * @returns false when another writer has changed the migration
 */
export function writeStatus(
  registry: RegistryContext,
  { target, store }: Migrations,
  entry: Entry,
  change: (status: MigrationStatus, migration: KubeObject) => void,
): Promise<boolean> {
  return unlessConflict(() =>
    update(registry, {
      ...writes.of(target, "", entry.index.name, "status"),
      next() {
        const migration = store.decode(entry);
        migration.status ??= {};
        change(migration.status, migration);
        return migration;
      },
    }),
  );
}

/** Ends the migration. @returns as {@link writeStatus} */
export function fail(
  registry: RegistryContext,
  migrations: Migrations,
  entry: Entry,
  message: string,
): Promise<boolean> {
  const now = registry.clock.now();
  return writeStatus(registry, migrations, entry, (status) =>
    addCondition(status, "Failed", { reason: "StorageVersionMigrationFailed", message, now }),
  );
}
