/** Snapshots of a server in memory: its store, and what it has in addition to the store. */

import type { CacheState, Installer } from "../catalog/install.ts";
import type { KubernetesServiceController } from "../controllers/bootstrap/kubernetes-service/controller.ts";
import type { DefinitionController } from "../controllers/crd/definitions.ts";
import type { MemoryState, MemoryStorage } from "../storage/memory.ts";
import type { ServerAuthentication } from "./authentication.ts";
import type { ServerAuthorization } from "./authorization.ts";
import type { ServerHttp } from "./http.ts";
import type { Certificates } from "./serving/certificates.ts";
import type { ServingSetup } from "./serving/serving-setup.ts";

/** The keys by which clients know a server and the server knows its clients. */
export interface ServerKeys {
  readonly certificates: Certificates;
  /** PEM of the key that signs service account tokens; undefined if an option names its file. */
  readonly serviceAccountKey: string | undefined;
  /** Equal for a server and its forks. Undefined for a server that has made its certificates itself, and its forks. */
  readonly lineage?: string | undefined;
}

/** A state of a server, from which another one can begin. Immutable. */
export interface ServerSnapshot {
  readonly state: MemoryState;
  /** The states of loaded watch caches, by key prefix. */
  readonly caches: ReadonlyMap<string, CacheState>;
  readonly keys: ServerKeys;
}

/** Called by a restore. */
export interface RestoreSteps {
  /** In the turn in which its changes are decided. */
  begun(): void;
  /** In the turn in which readers see the restored state. */
  visible(): void;
}

/** Takes and restores snapshots. */
export interface ServerSnapshots {
  /** @throws StorageUnavailable when the server is closed */
  take(): Promise<ServerSnapshot>;
  /**
   * Gives the server the state of a snapshot. Resolves when all decisions are made on that state: of RBAC, admission,
   * quotas and definitions. The watches of clients end with the error 410 before they see any of the changes.
   *
   * @param steps reports its progress: commits after `begun` replace the restored state, readers after `visible` see it
   * @throws Error when the snapshot is of a server with other authorities
   * @throws StorageUnavailable when the server is closed
   */
  restore(snapshot: Pick<ServerSnapshot, "state" | "keys">, steps: RestoreSteps): Promise<void>;
}

interface Needs {
  readonly memory: MemoryStorage | undefined;
  readonly installer: Installer;
  readonly http: Pick<ServerHttp, "watches">;
  readonly serving: Pick<ServingSetup, "own">;
  readonly authentication: Pick<ServerAuthentication, "ownKey">;
  readonly authorization: Pick<ServerAuthorization, "rbac">;
  readonly definitions: Pick<DefinitionController, "settled">;
  readonly service: Pick<KubernetesServiceController, "sync">;
  /** What the server began with. */
  readonly own: { readonly snapshot?: Pick<ServerSnapshot, "keys"> };
}

/** @returns undefined unless the store of the server is in memory */
export function openSnapshots(needs: Needs): ServerSnapshots | undefined {
  const { memory, installer, http, serving, authentication, authorization, definitions, service } = needs;
  if (memory === undefined) return undefined;
  const keys: ServerKeys = {
    certificates: serving.own,
    serviceAccountKey: authentication.ownKey,
    lineage: needs.own.snapshot?.keys.lineage,
  };
  return {
    take: () => memory.state((state) => ({ state, caches: installer.cacheStates(state.revision), keys })),
    async restore(snapshot, { begun, visible }) {
      // The store has certificates and tokens of the authorities.
      if (snapshot.keys.certificates.ca.cert !== keys.certificates.ca.cert || snapshot.keys.lineage !== keys.lineage)
        throw new Error(
          "the snapshot is of another server: start a server from it, or restore snapshots of this server, its forks and its origin",
        );
      begun();
      const revision = await memory.restore(snapshot.state, (restored) => {
        visible();
        installer.forgetBefore(restored);
        http.watches.expireAll(restored);
      });
      await authorization.rbac.reached(revision);
      // Watch caches deliver events to their followers at the end of the turn.
      await new Promise(setImmediate);
      await definitions.settled();
      await service.sync();
    },
  };
}
