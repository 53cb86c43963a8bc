/**
 * Removes deleted Secrets from the lists of their ServiceAccounts. Source:
 * `k8s.io/kubernetes@v1.36.0/pkg/controller/serviceaccount/tokens_controller.go`.
 */

import { ApiError } from "../../apimachinery/errors.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { currentEntry } from "../../registry/current-entry.ts";
import { update } from "../audited-writes.ts";
import { writesAs } from "../controller-write.ts";
import { openWorkQueue } from "../work-queue.ts";

/** Removes references to Secrets. */
interface SecretReferences {
  /** Removes the reference to a deleted Secret. @param secret its last state */
  deleted(secret: KubeObject): void;
  stop(): Promise<void>;
}

const writes = writesAs("tokens-controller");
/** Maximum references in the queue; the names of further Secrets stay in the lists. */
const secretsMax = 10_000;
const concurrency = 2;

/** A queue key, joined with slashes, which names and namespaces do not contain. */
interface Reference {
  readonly namespace: string;
  readonly account: string;
  readonly uid: string;
  readonly secret: string;
}

export function openSecretReferences({
  registry,
  logger,
}: {
  readonly registry: RegistryContext;
  readonly logger: Logger;
}): SecretReferences {
  const target = registry.catalog.findServed("", "v1", "serviceaccounts");
  const accounts = target?.resource.store;
  const remove = async (deciding: RegistryContext, { namespace, account, uid, secret }: Reference): Promise<void> => {
    const entry = accounts && (await currentEntry(accounts, accounts.keyOf(namespace, account)));
    if (target === undefined || entry === undefined || !isNamed(accounts?.decode(entry), uid, secret)) return;
    await update(deciding, {
      ...writes.of(target, namespace, account),
      next(current) {
        const object = current?.();
        if (object === undefined) throw new ApiError({ code: 404, reason: "NotFound", message: "the account is gone" });
        if (isNamed(object, uid, secret))
          object.secrets = object.secrets.filter(({ name }: { readonly name?: string }) => name !== secret);
        return object;
      },
    });
  };
  const queue = openWorkQueue({
    registry,
    async reconcile(key, deciding) {
      const [namespace = "", account = "", uid = "", secret = ""] = key.split("/");
      try {
        await remove(deciding, { namespace, account, uid, secret });
      } catch (error) {
        if (!(error instanceof ApiError) || error.status.reason !== "NotFound") throw error;
      }
      return true;
    },
    failed: (key, error) =>
      logger.warn("Failed to remove a deleted secret from the list of its service account, retrying", {
        key,
        error: String(error),
      }),
    concurrency,
    keysMax: secretsMax,
  });
  return {
    deleted({ metadata: { namespace = "", name = "", annotations = {} } }) {
      const account = annotations["kubernetes.io/service-account.name"] ?? "";
      const uid = annotations["kubernetes.io/service-account.uid"] ?? "";
      if (account !== "" && ![account, uid].some((text) => text.includes("/")))
        queue.add([namespace, account, uid, name].join("/"));
    },
    stop: () => queue.stop(),
  };
}

/**
 * Returns whether the account lists the Secret.
 * @param uid of the account; empty when the Secret had no uid annotation
 */
function isNamed(account: KubeObject | undefined, uid: string, secret: string): boolean {
  if (account === undefined || (uid !== "" && account.metadata.uid !== uid)) return false;
  const secrets: { readonly name?: string }[] = account.secrets ?? [];
  return secrets.some(({ name }) => name === secret);
}
