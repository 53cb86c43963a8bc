/**
 * Deletes expired bootstrap tokens. Source:
 * `k8s.io/kubernetes@v1.36.0/pkg/controller/bootstrap/tokencleaner.go`.
 */

import { bootstrapExpiration, bootstrapTokenType } from "../apimachinery/bootstrap-token.ts";
import { ApiError } from "../apimachinery/errors.ts";
import type { Resolved, ResourceStore } from "../catalog/contract.ts";
import type { RegistryContext } from "../registry/contract.ts";
import { currentEntry } from "../registry/current-entry.ts";
import type { Follower } from "../watch-cache/follow.ts";
import { deleteOne } from "./audited-writes.ts";
import { followBootstrapSecrets } from "./bootstrap-secrets.ts";
import type { Controller, ControllerOptions } from "./contract.ts";
import { writesAs } from "./controller-write.ts";
import { openWorkQueue } from "./work-queue.ts";

const writes = writesAs("token-cleaner");
/** Maximum Secrets in the queue; others wait for the next list. */
const secretsMax = 10_000;
const concurrency = 4;

/** Creates the controller that deletes expired bootstrap tokens. */
export function tokenCleaner({ registry, logger, queues }: ControllerOptions): Controller {
  const target = registry.catalog.findServed("", "v1", "secrets");
  const secrets = target?.resource.store;
  if (target === undefined || secrets === undefined) return { start() {}, stop: async () => {} };
  const queue = openWorkQueue({
    registry,
    observer: queues?.("token_cleaner"),
    async reconcile(key, deciding) {
      await deleteIfExpired(deciding, target, secrets, key);
      return true;
    },
    failed: (key, error) =>
      logger.warn("Failed to delete an expired bootstrap token, retrying", {
        key,
        error: String(error),
      }),
    concurrency,
    keysMax: secretsMax,
  });
  let follower: Pick<Follower, "stop"> | undefined;
  return {
    start() {
      follower = followBootstrapSecrets({
        registry,
        secrets,
        changed: (key) => queue.add(key),
        failed: (error) => logger.warn("Failed to list bootstrap tokens", { error: String(error) }),
      });
    },
    async stop() {
      follower?.stop();
      await queue.stop();
    },
  };
}

async function deleteIfExpired(
  registry: RegistryContext,
  target: Resolved,
  secrets: ResourceStore,
  key: string,
): Promise<void> {
  const entry = await currentEntry(secrets, key);
  const secret = entry && secrets.decode(entry);
  if (entry === undefined || secret?.type !== bootstrapTokenType) return;
  if (registry.clock.now() < (bootstrapExpiration(secret) ?? Number.POSITIVE_INFINITY)) return;
  const { namespace, name } = entry.index;
  const { uid = "" } = secret.metadata;
  try {
    await deleteOne(registry, {
      ...writes.of(target, namespace, name),
      options: { dryRun: false, preconditions: { uid } },
    });
  } catch (error) {
    // The Secret was changed or deleted concurrently.
    if (!(error instanceof ApiError) || !["Conflict", "NotFound"].includes(error.status.reason ?? "")) throw error;
  }
}
