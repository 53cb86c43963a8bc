/**
 * Writes the objects of a resource again, each by a server-side apply without fields, so that they are stored as they
 * would be stored today. Sources: `k8s.io/kubernetes@v1.36.0/pkg/controller/storageversionmigrator/resourceversion.go`
 * and `storageversionmigrator.go` there.
 */

import { ApiError } from "../../apimachinery/errors.ts";
import {
  formatGroupResource,
  formatGroupVersion,
  type GroupResource,
  type KubeObject,
} from "../../apimachinery/object.ts";
import type { Resolved, ResourceStore } from "../../catalog/contract.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import type { Entry } from "../../watch-cache/contract.ts";
import { apply } from "../audited-writes.ts";
import { writesAs } from "../controller-write.ts";
import {
  addCondition,
  controllerName,
  fail,
  isFinished,
  isRunning,
  type Migrations,
  resourceOf,
  statusOf,
  writeStatus,
} from "./status.ts";

const writes = writesAs(controllerName);
/** How long a resource that does not exist is waited for, since the creation of the migration. */
const waitsForResourceMs = 60_000;
const neededVerbs = ["update", "patch", "list"];
/** Upstream migrates the objects that its garbage collector knows. */
const collectedVerbs = ["delete", "list", "watch"];
const notCollected: ReadonlySet<string> = new Set(["events", "events.events.k8s.io"]);

/** What a run needs. */
export interface MigrationRun {
  readonly registry: RegistryContext;
  readonly migrations: Migrations;
  /** Whether to stop between two objects. */
  isOver(): boolean;
}

/** A resource at its preferred version, and its store. */
interface Place {
  readonly target: Resolved;
  readonly store: ResourceStore;
}

/**
 * Makes the next step of a migration: it notes the resourceVersion up to which objects are migrated, or migrates them.
 * @returns whether there is nothing left to do until another event
 * @throws ApiError · StorageUnavailable for what may work later
 */
export async function migrate(run: MigrationRun, entry: Entry): Promise<boolean> {
  const { registry, migrations } = run;
  const migration = migrations.store.decode(entry);
  if (isFinished(migration)) return true;
  const { resourceVersion = "" } = statusOf(migration);
  if (resourceVersion === "") return !isRunning(migration) || begin(run, entry, migration);
  const target = targetOf(registry, resourceOf(migration));
  const store = target?.resource.store;
  if (target === undefined || store === undefined) {
    if (isAwaited(registry, migration)) return false;
    return fail(registry, migrations, entry, unhandled("unable to obtain GVR from discovery"));
  }
  if (!isCollected(target)) return false;
  const failure = await migrateObjects(run, { target, store }, Number(resourceVersion));
  if (run.isOver()) return true;
  if (failure !== undefined) return fail(registry, migrations, entry, unhandled(failure));
  const now = registry.clock.now();
  return writeStatus(registry, migrations, entry, (status) =>
    addCondition(status, "Succeeded", { reason: "StorageVersionMigrationSucceeded", message: "", now }),
  );
}

const unhandled = (message: string): string => `migration encountered unhandled error: ${message}`;

async function begin({ registry, migrations }: MigrationRun, entry: Entry, migration: KubeObject): Promise<boolean> {
  const target = targetOf(registry, resourceOf(migration));
  if (target === undefined) {
    if (isAwaited(registry, migration)) return false;
    return fail(registry, migrations, entry, "resource does not exist in discovery");
  }
  const { definition, store } = target.resource;
  if (store === undefined || !hasVerbs(target, neededVerbs)) {
    const name = quoteGo(`${definition.group}/${target.version.version}, Resource=${definition.resource}`);
    const problem = `resource ${name} does not support discovery operations: [${neededVerbs.join(" ")}]`;
    return fail(registry, migrations, entry, problem);
  }
  const { revision } = await store.cache.current();
  return writeStatus(registry, migrations, entry, (status) => {
    status.resourceVersion = String(revision);
  });
}

/** @returns the resource at its preferred version; undefined when this server does not serve it */
function targetOf({ catalog }: RegistryContext, { group, resource }: GroupResource): Resolved | undefined {
  const found = catalog.findResource(group, resource);
  const version = found?.definition.versions.find(({ served }) => served)?.version;
  return version === undefined ? undefined : catalog.findServed(group, version, resource);
}

function isAwaited({ clock }: RegistryContext, { metadata }: KubeObject): boolean {
  return Date.parse(metadata.creationTimestamp ?? "") + waitsForResourceMs > clock.now();
}

function hasVerbs({ version }: Resolved, verbs: readonly string[]): boolean {
  return verbs.every((verb) => version.verbs.includes(verb));
}

function isCollected(target: Resolved): boolean {
  return !notCollected.has(formatGroupResource(target.resource.definition)) && hasVerbs(target, collectedVerbs);
}

/**
 * Migrates objects that have not been written since. After an interruption, all are tried again: those that
 * were migrated have a newer revision, or are not written.
 * @returns why an object cannot be migrated
 */
async function migrateObjects(run: MigrationRun, place: Place, until: number): Promise<string | undefined> {
  const { cache, form } = place.store;
  const snapshot = await cache.notOlderThan(until);
  for (const entry of snapshot.range(form.prefix)) {
    if (run.isOver()) return undefined;
    if (entry.revision > until) continue;
    const failure = await migrateObject(run, place, entry);
    if (failure !== undefined) return failure;
    await new Promise(setImmediate); // Requests of clients run in between.
  }
  return undefined;
}

/** Reasons of errors after which the migration is tried again. */
const retried: ReadonlySet<string | undefined> = new Set([
  "ServerTimeout",
  "TooManyRequests",
  "ServiceUnavailable",
  "InternalError",
  "Timeout",
]);

async function migrateObject(
  { registry }: MigrationRun,
  { target, store }: Place,
  entry: Entry,
): Promise<string | undefined> {
  const { namespace, name } = entry.index;
  const { uid } = store.decode(entry).metadata;
  const { definition } = target.resource;
  const body = {
    kind: definition.kind,
    apiVersion: formatGroupVersion(definition.group, target.version.version),
    // With both, an object that was deleted or replaced meanwhile is a conflict, and is not created.
    metadata: { uid, resourceVersion: String(entry.revision) },
  };
  try {
    await apply(registry, {
      ...writes.of(target, namespace, name),
      fieldManager: controllerName,
      body: Buffer.from(JSON.stringify(body)),
      force: false,
      fieldValidation: "Warn",
    });
    return undefined;
  } catch (error) {
    if (!(error instanceof ApiError) || retried.has(error.status.reason)) throw error;
    return error.status.reason === "Conflict" ? undefined : error.message;
  }
}
