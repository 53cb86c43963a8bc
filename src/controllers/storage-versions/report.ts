/**
 * Reports the storage versions of this server at its start, and each ten minutes. Sources:
 * `k8s.io/apiserver@v0.36.0/pkg/storageversion/manager.go`;
 * `k8s.io/kube-aggregator@v0.36.0/pkg/apiserver/apiserver.go`.
 */

import { realClock } from "../../apimachinery/clock.ts";
import { ApiError } from "../../apimachinery/errors.ts";
import type { GroupResource, KubeObject } from "../../apimachinery/object.ts";
import { currentEntry } from "../../registry/current-entry.ts";
import { create, update } from "../audited-writes.ts";
import type { ControllerOptions } from "../contract.ts";
import { serverWrites } from "../controller-write.ts";
import { nameOf, noError, type OwnVersions, ownVersions } from "./own-versions.ts";
import {
  findStorageVersions,
  type ServerStorageVersion,
  type StorageVersions,
  serversOf,
  setServers,
} from "./status.ts";

interface ReportOptions extends ControllerOptions {
  /** See `serverIdentity`. */
  readonly identity: string;
  /** Whether objects are stored as kube-apiserver stores them. */
  readonly isShared: boolean;
}

/** The report of this server. */
export interface StorageVersionReport {
  /**
   * Returns the last error of a resource that was not reported yet, `<nil>` without one.
   * @returns undefined for one that was reported, for custom resources, and after `completed`
   */
  problem(resource: GroupResource): string | undefined;
  /** Resolves when all versions were reported for the first time, or the report is stopped. */
  readonly completed: Promise<void>;
  /** Resolves after the first attempt, also when it failed: others follow. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

const intervalMs = 600_000;
const retryMs = 1_000;

/** @returns undefined when the kind is not served */
export function storageVersionReport(options: ReportOptions): StorageVersionReport | undefined {
  const { registry, logger, identity, isShared } = options;
  const place = findStorageVersions(registry.catalog);
  if (place === undefined) return undefined;
  let isStopped = false;
  let isCompleted = false;
  let cancel = (): void => {};
  let running: Promise<void> = Promise.resolve();
  const { promise: completed, resolve } = Promise.withResolvers<void>();
  const complete = (): void => {
    isCompleted = true;
    resolve();
  };
  const done = new Set<string>();
  const problems = new Map<string, string>();
  const report = async (): Promise<void> => {
    let isComplete = true;
    for (const own of ownVersions(registry.catalog, isShared)) {
      if (isStopped) return;
      try {
        await reportOne(options, place, own, identity);
        done.add(own.name);
      } catch (error) {
        problems.set(own.name, (error as Error).message);
        logger.error("Failed to update storage version", { name: own.name, error: String(error) });
        isComplete = false;
      }
    }
    if (isComplete) complete();
    if (isStopped) return;
    cancel = realClock(registry.clock).after(isComplete ? intervalMs : retryMs, begin);
  };
  const begin = (): void => {
    running = report();
  };
  return {
    problem(resource) {
      if (isCompleted) return undefined;
      const name = nameOf(registry.catalog, resource);
      return name === undefined || done.has(name) ? undefined : (problems.get(name) ?? noError);
    },
    completed,
    start() {
      begin();
      return running;
    },
    async stop() {
      isStopped = true;
      cancel();
      complete();
      await running;
    },
  };
}

/** Attempts of a write that other servers make at the same time. */
const attemptsMax = 20;

/** @throws ApiError */
async function reportOne(
  options: ReportOptions,
  place: StorageVersions,
  { name, ...versions }: OwnVersions,
  identity: string,
): Promise<void> {
  const own: ServerStorageVersion = { apiServerID: identity, ...versions };
  for (let attempt = 1; ; attempt++) {
    try {
      return await writeOne(options, place, name, own);
    } catch (error) {
      const reason = error instanceof ApiError ? error.status.reason : undefined;
      if ((reason !== "AlreadyExists" && reason !== "Conflict" && reason !== "NotFound") || attempt === attemptsMax)
        throw error;
    }
  }
}

async function writeOne(
  { registry }: ReportOptions,
  { target, store }: StorageVersions,
  name: string,
  own: ServerStorageVersion,
): Promise<void> {
  const decode = (): KubeObject => ({
    kind: "StorageVersion",
    apiVersion: "internal.apiserver.k8s.io/v1alpha1",
    metadata: { name },
    spec: {},
  });
  if ((await currentEntry(store, store.keyOf("", name))) === undefined)
    await create(registry, { ...serverWrites.of(target, "", ""), decode });
  await update(registry, {
    ...serverWrites.of(target, "", name, "status"),
    next(current) {
      const object = current?.() ?? decode();
      const servers = serversOf(object);
      const isKnown = servers.some(({ apiServerID }) => apiServerID === own.apiServerID);
      const replaced = servers.map((server) => (server.apiServerID === own.apiServerID ? own : server));
      setServers(object, isKnown ? replaced : [...servers, own], registry.clock.now());
      return object;
    },
  });
}
