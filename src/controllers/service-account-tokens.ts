/**
 * Writes tokens into Secrets of type `kubernetes.io/service-account-token`, and deletes such
 * Secrets with their ServiceAccount. Source:
 * `k8s.io/kubernetes@v1.36.0/pkg/controller/serviceaccount/tokens_controller.go`.
 */

import { ApiError } from "../apimachinery/errors.ts";
import type { KubeObject } from "../apimachinery/object.ts";
import type { Resolved, ResourceStore } from "../catalog/contract.ts";
import { currentEntry } from "../registry/current-entry.ts";
import type { Entry } from "../watch-cache/contract.ts";
import { type Follower, followCache } from "../watch-cache/follow.ts";
import { deleteOne, update } from "./audited-writes.ts";
import type { Controller, ControllerOptions } from "./contract.ts";
import { writesAs } from "./controller-write.ts";
import { openSecretReferences } from "./legacy-tokens/secret-references.ts";
import { openWorkQueue, type WorkQueue } from "./work-queue.ts";

/** Options of {@link serviceAccountTokensController}. */
export interface ServiceAccountTokensOptions extends ControllerOptions {
  /** PEM. */
  readonly caBundle: string;
  /** Issues the token of an account for a Secret. */
  issue(namespace: string, account: { readonly name: string; readonly uid: string }, secret: string): Promise<string>;
}

const writes = writesAs("tokens-controller");
const secretType = "kubernetes.io/service-account-token";
const nameAnnotation = "kubernetes.io/service-account.name";
const uidAnnotation = "kubernetes.io/service-account.uid";
/** Maximum Secrets in the queue; others wait for the next list. */
const secretsMax = 100_000;
const concurrency = 4;

interface Places {
  readonly secrets: ResourceStore;
  readonly target: Resolved;
  readonly accounts: ResourceStore;
}

/** Creates the controller that fills and deletes the token Secrets of ServiceAccounts. */
export function serviceAccountTokensController(options: ServiceAccountTokensOptions): Controller {
  const { registry, logger } = options;
  const target = registry.catalog.findServed("", "v1", "secrets");
  const secrets = target?.resource.store;
  const accounts = registry.catalog.findServed("", "v1", "serviceaccounts")?.resource.store;
  if (target === undefined || secrets === undefined || accounts === undefined)
    return { start() {}, stop: async () => {} };
  const queue = openQueue(options, { secrets, target, accounts });
  const references = openSecretReferences({ registry, logger });
  /** Keys of the Secrets for tokens. */
  const known = new Set<string>();
  const enqueueAll = (): void => {
    for (const key of known) queue.add(key);
  };
  let followers: Follower[] = [];
  return {
    start() {
      const common = {
        clock: registry.clock,
        failed: (error: unknown) =>
          logger.warn("Controller of service account tokens failed to list", { error: String(error) }),
      };
      const ofSecrets = followCache({
        ...common,
        cache: secrets.cache,
        prefix: secrets.form.prefix,
        set({ key, index }) {
          if (index.fields.get("type") !== secretType) return void known.delete(key);
          known.add(key);
          queue.add(key);
        },
        deleted(entry) {
          if (known.delete(entry.key)) references.deleted(secrets.decode(entry));
        },
        knownKeys: () => known,
        missing: (key) => known.delete(key),
      });
      const ofAccounts = followCache({
        ...common,
        cache: accounts.cache,
        prefix: accounts.form.prefix,
        set() {},
        deleted({ index }) {
          const prefix = `${secrets.form.prefix}${index.namespace}/`;
          for (const key of known) if (key.startsWith(prefix)) queue.add(key);
        },
        knownKeys: () => [],
        missing: enqueueAll,
        relisted: enqueueAll,
      });
      followers = [ofSecrets, ofAccounts];
    },
    async stop() {
      for (const follower of followers) follower.stop();
      await Promise.all([queue.stop(), references.stop()]);
    },
  };
}

function openQueue(options: ServiceAccountTokensOptions, places: Places): WorkQueue {
  const { registry, logger, queues } = options;
  return openWorkQueue({
    registry,
    observer: queues?.("serviceaccount_tokens_service"),
    async reconcile(key, deciding) {
      await reconcile({ ...options, registry: deciding }, places, key);
      return true;
    },
    failed: (key, error) =>
      logger.warn("Failed to write the token of a secret, retrying", { key, error: String(error) }),
    concurrency,
    keysMax: secretsMax,
  });
}

async function reconcile(options: ServiceAccountTokensOptions, places: Places, key: string): Promise<void> {
  const entry = await currentEntry(places.secrets, key);
  if (entry === undefined) return;
  const secret = places.secrets.decode(entry);
  const { namespace = "", annotations = {}, deletionTimestamp } = secret.metadata;
  if (secret.type !== secretType || deletionTimestamp !== undefined) return;
  const account = await accountOf(places, namespace, annotations[nameAnnotation] ?? "");
  const expectedUid = annotations[uidAnnotation] ?? "";
  try {
    if (account === undefined || (expectedUid !== "" && expectedUid !== account.uid))
      await remove(options, places, entry, secret);
    else if (missing(secret, options).length > 0) await fill(options, places, secret, account);
  } catch (error) {
    // The Secret was changed concurrently; its event triggers the next reconciliation.
    if (!(error instanceof ApiError) || !["Conflict", "NotFound"].includes(error.status.reason ?? "")) throw error;
  }
}

async function accountOf(
  { accounts }: Places,
  namespace: string,
  name: string,
): Promise<{ name: string; uid: string } | undefined> {
  const entry = await currentEntry(accounts, accounts.keyOf(namespace, name));
  return entry && { name, uid: accounts.decode(entry).metadata.uid ?? "" };
}

async function remove(
  { registry }: ServiceAccountTokensOptions,
  { target }: Places,
  { index }: Entry,
  secret: KubeObject,
): Promise<void> {
  const { uid = "" } = secret.metadata;
  await deleteOne(registry, {
    ...writes.of(target, index.namespace, index.name),
    options: { dryRun: false, preconditions: { uid } },
  });
}

function missing({ data = {} }: KubeObject, { caBundle }: ServiceAccountTokensOptions): string[] {
  const ca = Buffer.from(caBundle).toString("base64");
  return [
    ...(data["ca.crt"] === ca ? [] : ["ca.crt"]),
    ...["namespace", "token"].filter((key) => (data[key] ?? "") === ""),
  ];
}

async function fill(
  options: ServiceAccountTokensOptions,
  { target }: Places,
  secret: KubeObject,
  account: { name: string; uid: string },
): Promise<void> {
  const { name = "", namespace = "", uid } = secret.metadata;
  const values: Readonly<Record<string, string>> = {
    "ca.crt": options.caBundle,
    namespace,
    token: await options.issue(namespace, account, name),
  };
  await update(options.registry, {
    ...writes.of(target, namespace, name),
    next(current) {
      const object = current?.();
      if (object === undefined || object.metadata.uid !== uid)
        throw new ApiError({ code: 409, reason: "Conflict", message: "another secret has the name" });
      object.data ??= {};
      for (const key of missing(object, options))
        object.data[key] = Buffer.from(values[key] as string).toString("base64");
      object.metadata.annotations = {
        ...object.metadata.annotations,
        [nameAnnotation]: account.name,
        [uidAnnotation]: account.uid,
      };
      return object;
    },
  });
}
