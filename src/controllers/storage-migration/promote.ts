/**
 * Lets one migration of a resource run at a time, and keeps the CustomResourceDefinition of the resource up to date.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/controller/storageversionmigrator/migrationrunner.go`.
 */

import { formatTime } from "../../apimachinery/clock.ts";
import type { GroupResource, KubeObject } from "../../apimachinery/object.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { currentObject } from "../../registry/current-entry.ts";
import { unlessConflict } from "../../registry/unless-conflict.ts";
import type { Entry } from "../../watch-cache/contract.ts";
import { apply } from "../audited-writes.ts";
import { writesAs } from "../controller-write.ts";
import {
  addCondition,
  controllerName,
  endRunning,
  hasSucceeded,
  isFinished,
  isRunning,
  type Migrations,
  writeStatus,
} from "./status.ts";

/** The field manager of definitions. */
const runner = "migration-runner-controller";
const writes = writesAs(controllerName);
const definitions = { group: "apiextensions.k8s.io", resource: "customresourcedefinitions" };

/**
 * Ends migrations that have finished, and starts the oldest one that waits when none runs.
 * @param entries all migrations of the resource
 * @returns false when another writer has changed what was checked
 */
export async function promote(
  registry: RegistryContext,
  migrations: Migrations,
  resource: GroupResource,
  entries: readonly Entry[],
): Promise<boolean> {
  const all = entries.map((entry) => ({ entry, migration: migrations.store.decode(entry) }));
  for (const { entry, migration } of all) {
    if (!isRunning(migration) || !isFinished(migration)) continue;
    if (!(await endMigration(registry, migrations, resource, { entry, migration }))) return false;
  }
  if (all.some(({ migration }) => isRunning(migration) && !isFinished(migration))) return true;
  const [next] = all
    .filter(({ migration }) => !isRunning(migration) && !isFinished(migration))
    .sort((a, b) => compareAge(a.migration, b.migration));
  return next === undefined || begin(registry, migrations, resource, next);
}

interface Found {
  readonly entry: Entry;
  readonly migration: KubeObject;
}

function compareAge({ metadata: a }: KubeObject, { metadata: b }: KubeObject): number {
  const [at, other] = [a.creationTimestamp ?? "", b.creationTimestamp ?? ""];
  if (at !== other) return at < other ? -1 : 1;
  return (a.name ?? "") < (b.name ?? "") ? -1 : 1;
}

async function begin(
  registry: RegistryContext,
  migrations: Migrations,
  resource: GroupResource,
  { entry }: Found,
): Promise<boolean> {
  const definition = await definitionOf(registry, resource);
  const condition = {
    status: "True",
    reason: "MigrationRunning",
    message: `Migration ${entry.index.name} is running`,
  };
  if (definition !== undefined && !(await applyStatus(registry, definition, condition))) return false;
  const now = registry.clock.now();
  return writeStatus(registry, migrations, entry, (status) =>
    addCondition(status, "Running", { reason: "MigrationRunning", message: "The migration is running", now }),
  );
}

async function endMigration(
  registry: RegistryContext,
  migrations: Migrations,
  resource: GroupResource,
  { entry, migration }: Found,
): Promise<boolean> {
  const definition = await definitionOf(registry, resource);
  if (definition !== undefined && !(await endDefinition(registry, definition, hasSucceeded(migration)))) return false;
  const now = registry.clock.now();
  return writeStatus(registry, migrations, entry, (status, changed) => endRunning(status, changed, now));
}

/** The stored versions are those of the present definition if it has not changed since the migration began. */
function endDefinition(registry: RegistryContext, definition: KubeObject, succeeded: boolean): Promise<boolean> {
  const { metadata, spec, status } = definition;
  const conditions: readonly Record<string, unknown>[] = status?.conditions ?? [];
  const migrating = conditions.find(({ type }) => type === "StorageMigrating");
  const isUnchanged =
    migrating !== undefined && Number(migrating.observedGeneration ?? 0) === Number(metadata.generation ?? 0);
  const [storage] = (spec.versions as { name: string; storage: boolean }[]).filter((version) => version.storage);
  const outcome = isUnchanged
    ? "and the stored versions have been updated"
    : "but the stored versions have not been updated due to a generation mismatch";
  return applyStatus(
    registry,
    definition,
    {
      status: "False",
      reason: succeeded ? "MigrationSucceeded" : "MigrationFailed",
      message: succeeded ? `The migration has succeeded ${outcome}` : "The migration has failed",
    },
    isUnchanged && storage !== undefined ? { storedVersions: [storage.name] } : {},
  );
}

function definitionOf(
  { catalog }: RegistryContext,
  { group, resource }: GroupResource,
): Promise<KubeObject | undefined> {
  return currentObject(catalog, definitions, "", `${resource}.${group}`);
}

/** @returns false when the definition has changed since it was read */
function applyStatus(
  registry: RegistryContext,
  { metadata: { name = "", generation = 0, resourceVersion } }: KubeObject,
  condition: { readonly status: string; readonly reason: string; readonly message: string },
  more: { readonly storedVersions?: readonly string[] } = {},
): Promise<boolean> {
  const target = registry.catalog.findServed(definitions.group, "v1", definitions.resource);
  if (target === undefined) return Promise.resolve(true);
  const conditions = [
    {
      type: "StorageMigrating",
      ...condition,
      lastTransitionTime: formatTime(registry.clock.now()),
      observedGeneration: Number(generation),
    },
  ];
  const body = {
    apiVersion: `${definitions.group}/v1`,
    kind: "CustomResourceDefinition",
    metadata: { name, resourceVersion },
    status: { conditions, ...more },
  };
  return unlessConflict(() =>
    apply(registry, {
      ...writes.of(target, "", name, "status"),
      fieldManager: runner,
      body: Buffer.from(JSON.stringify(body)),
      force: true,
      fieldValidation: "Warn",
    }),
  );
}
