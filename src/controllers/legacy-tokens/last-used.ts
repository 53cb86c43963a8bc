/**
 * Labels Secrets with the day on which their token was last used. Source:
 * `k8s.io/kubernetes@v1.36.0/pkg/serviceaccount/legacy.go`.
 */

import { ApiError } from "../../apimachinery/errors.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { currentEntry } from "../../registry/current-entry.ts";
import { update } from "../audited-writes.ts";
import { serverWrites } from "../controller-write.ts";
import { openWorkQueue } from "../work-queue.ts";
import { dayMs, formatDay } from "./dates.ts";

export const lastUsedLabel = "kubernetes.io/legacy-token-last-used";

/** Records the use of legacy tokens. */
interface SecretUses {
  /** Records the use of a Secret's token. The label is written asynchronously. */
  used(namespace: string, name: string): void;
  stop(): Promise<void>;
}

/** Maximum Secrets in the queue; the use of others is recorded when they are used again. */
const secretsMax = 10_000;
const concurrency = 2;
const firstDelayMs = 100;
const delayMaxMs = 10_000;

/** Records on which day the token of a Secret was last used, in a label of the Secret. */
export function openSecretUses({
  registry,
  logger,
}: {
  readonly registry: RegistryContext;
  readonly logger: Logger;
}): SecretUses {
  const { clock, catalog } = registry;
  const target = catalog.findServed("", "v1", "secrets");
  const secrets = target?.resource.store;
  const isWritten = (label: string | undefined): boolean =>
    label === formatDay(clock.now()) || label === formatDay(clock.now() + dayMs);
  const write = async (deciding: RegistryContext, namespace: string, name: string): Promise<void> => {
    const found = secrets && (await currentEntry(secrets, secrets.keyOf(namespace, name)));
    if (target === undefined || found === undefined || isWritten(found.index.labels.get(lastUsedLabel))) return;
    await update(deciding, {
      ...serverWrites.of(target, namespace, name),
      next(current) {
        const object = current?.();
        if (object === undefined) throw new ApiError({ code: 404, reason: "NotFound", message: "the secret is gone" });
        object.metadata.labels = { ...object.metadata.labels, [lastUsedLabel]: formatDay(clock.now()) };
        return object;
      },
    });
  };
  const queue = openWorkQueue({
    registry,
    async reconcile(key, deciding) {
      const slash = key.indexOf("/");
      try {
        await write(deciding, key.slice(0, slash), key.slice(slash + 1));
      } catch (error) {
        // The Secret or its namespace was deleted.
        if (!(error instanceof ApiError) || error.status.reason !== "NotFound") throw error;
      }
      return true;
    },
    failed: (key, error) =>
      logger.warn("Failed to record the use of a legacy token, retrying", { key, error: String(error) }),
    concurrency,
    keysMax: secretsMax,
    firstDelayMs,
    delayMaxMs,
  });
  return { used: (namespace, name) => void queue.add(`${namespace}/${name}`), stop: () => queue.stop() };
}
