/** Writes into secrets the day on which their token was last used. Source: pkg/serviceaccount's legacy validator. */
import { ApiError } from "../../apimachinery/errors.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { update } from "../../registry/update.ts";
import { writesAs } from "../controller-write.ts";
import { openWorkQueue } from "../work-queue.ts";
import { dayMs, formatDay } from "./dates.ts";

export const lastUsedLabel = "kubernetes.io/legacy-token-last-used";

export interface SecretUses {
  /** The secret's token was used just now; nobody waits until that is written. */
  used(namespace: string, name: string): void;
  stop(): Promise<void>;
}

const writes = writesAs("kube-apiserver");
/** Secrets whose use is still to be written; of more it is written when they are used again. */
const secretsMax = 10_000;
const concurrency = 2;
const firstDelayMs = 100;
const delayMaxMs = 10_000;

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
  const write = async (namespace: string, name: string): Promise<void> => {
    const found = secrets && (await secrets.cache.current()).get(secrets.keyOf(namespace, name));
    if (target === undefined || found === undefined || isWritten(found.index.labels.get(lastUsedLabel))) return;
    await update(registry, {
      ...writes.of(target, namespace, name),
      next(current) {
        const object = current?.();
        if (object === undefined) throw new ApiError({ code: 404, reason: "NotFound", message: "the secret is gone" });
        object.metadata.labels = { ...object.metadata.labels, [lastUsedLabel]: formatDay(clock.now()) };
        return object;
      },
    });
  };
  const queue = openWorkQueue({
    clock,
    async reconcile(key) {
      const slash = key.indexOf("/");
      try {
        await write(key.slice(0, slash), key.slice(slash + 1));
      } catch (error) {
        // It is gone, or its namespace is: there is nothing left to write.
        if (!(error instanceof ApiError) || error.status.reason !== "NotFound") throw error;
      }
      return true;
    },
    failed: (key, error) =>
      logger.warn("the use of a legacy token could not be written, will be tried again", { key, error: String(error) }),
    concurrency,
    keysMax: secretsMax,
    firstDelayMs,
    delayMaxMs,
  });
  return { used: (namespace, name) => void queue.add(`${namespace}/${name}`), stop: () => queue.stop() };
}
