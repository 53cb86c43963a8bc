/**
 * Removes unused legacy tokens: marks them as invalid, and deletes them one period later. Sources:
 * KEP-2799;
 * `k8s.io/kubernetes@v1.36.0/pkg/controller/serviceaccount/legacy_serviceaccount_token_cleaner.go`.
 */

import { ApiError } from "../../apimachinery/errors.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { podReferences } from "../../apimachinery/pod-references.ts";
import type { Resolved, ResourceStore } from "../../catalog/contract.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { currentEntry } from "../../registry/current-entry.ts";
import { unlessConflict } from "../../registry/unless-conflict.ts";
import type { Entry, Snapshot } from "../../watch-cache/contract.ts";
import { deleteOne, update } from "../audited-writes.ts";
import type { Controller } from "../contract.ts";
import { writesAs } from "../controller-write.ts";
import { repeatedController } from "../repeated.ts";
import { dayMs, formatDay, parseDay } from "./dates.ts";
import { lastUsedLabel } from "./last-used.ts";
import { trackingName, trackingNamespace } from "./tracking.ts";

interface LegacyTokenCleanerOptions {
  readonly registry: RegistryContext;
  readonly logger: Logger;
  /** How long a token may be unused before it is marked, and marked before it is deleted. */
  readonly unusedMs: number;
}

const invalidSinceLabel = "kubernetes.io/legacy-token-invalid-since";
const writes = writesAs("legacy-service-account-token-cleaner");
const tokenType = "kubernetes.io/service-account-token";
/** Secrets that are checked in one event loop turn. */
const checksPerTurn = 500;

interface Places {
  readonly target: Resolved;
  readonly secrets: ResourceStore;
  readonly accounts: ResourceStore;
  readonly pods: ResourceStore;
  readonly configMaps: ResourceStore;
}

/** Checks all tokens at the start, and once a day. */
export function legacyTokenCleaner(options: LegacyTokenCleanerOptions): Controller {
  const { registry, logger } = options;
  const places = placesIn(registry);
  if (places === undefined) return { start() {}, stop: async () => {} };
  let stopped = false;
  const cleaner = repeatedController(
    { registry, logger },
    {
      task: "clean legacy tokens",
      intervalMs: dayMs,
      runsAtStart: true,
      run: (deciding) => cleanLegacyTokens({ ...options, registry: deciding }, places, () => stopped),
    },
  );
  return {
    start: cleaner.start,
    async stop() {
      stopped = true;
      await cleaner.stop();
    },
  };
}

function placesIn({ catalog }: RegistryContext): Places | undefined {
  const storeOf = (resource: string): ResourceStore | undefined => catalog.findResource("", resource)?.store;
  const [secrets, accounts, pods, configMaps] = ["secrets", "serviceaccounts", "pods", "configmaps"].map(storeOf);
  const target = catalog.findServed("", "v1", "secrets");
  if (
    target === undefined ||
    secrets === undefined ||
    accounts === undefined ||
    pods === undefined ||
    configMaps === undefined
  )
    return undefined;
  return { target, secrets, accounts, pods, configMaps };
}

async function cleanLegacyTokens(
  options: LegacyTokenCleanerOptions,
  places: Places,
  isStopped: () => boolean,
): Promise<void> {
  const { registry, unusedMs, logger } = options;
  const now = registry.clock.now();
  const trackedSince = await trackedSinceMs(places);
  if (trackedSince === undefined || now < trackedSince + unusedMs) return;
  const { secrets, accounts, pods } = places;
  const [allSecrets, allAccounts, allPods] = [
    await secrets.cache.current(),
    await accounts.cache.current(),
    await pods.cache.current(),
  ];
  const mounted = mountedSecrets(pods, allPods);
  let checks = 0;
  for (const entry of allSecrets.range(secrets.form.prefix)) {
    if (++checks % checksPerTurn === 0) await new Promise(setImmediate);
    if (isStopped()) return;
    if (entry.index.fields.get("type") !== tokenType) continue;
    const secret = secrets.decode(entry);
    const verdict = verdictOn(secret, { now, unusedMs, account: accountOf(secret, accounts, allAccounts), mounted });
    if (verdict === "keep") continue;
    const { namespace, name } = entry.index;
    logger.info(verdict === "mark" ? "Marking an unused legacy token as invalid" : "Deleting an unused legacy token", {
      namespace,
      name,
    });
    await (verdict === "mark" ? mark(registry, places, entry, now) : remove(registry, places, entry));
  }
}

/** Returns the beginning of the first complete day of tracking. */
async function trackedSinceMs({ configMaps }: Places): Promise<number | undefined> {
  const entry = await currentEntry(configMaps, configMaps.keyOf(trackingNamespace, trackingName));
  const since = entry && parseDay(configMaps.decode(entry).data?.since);
  return since && since + dayMs;
}

/**
 * Returns a function that finds the Secrets mounted by Pods of a namespace, and caches the result.
 */
function mountedSecrets(pods: ResourceStore, snapshot: Snapshot): (namespace: string) => ReadonlySet<string> {
  const cached = new Map<string, ReadonlySet<string>>();
  return (namespace) => {
    let names = cached.get(namespace);
    if (names === undefined) {
      const entries = [...snapshot.range(`${pods.form.prefix}${namespace}/`)];
      names = new Set(
        entries.flatMap((entry) =>
          [...podReferences(pods.decode(entry))].flatMap(([kind, name]) => (kind === "secret" ? [name] : [])),
        ),
      );
      cached.set(namespace, names);
    }
    return names;
  };
}

/**
 * Returns the account that the Secret names; undefined when it does not exist or has another uid.
 */
function accountOf({ metadata }: KubeObject, accounts: ResourceStore, snapshot: Snapshot): KubeObject | undefined {
  const name = metadata.annotations?.["kubernetes.io/service-account.name"] ?? "";
  const uid = metadata.annotations?.["kubernetes.io/service-account.uid"] ?? "";
  const entry = name === "" ? undefined : snapshot.get(accounts.keyOf(metadata.namespace ?? "", name));
  const account = entry && accounts.decode(entry);
  return uid === "" || account?.metadata.uid === uid ? account : undefined;
}

interface Circumstances {
  readonly now: number;
  readonly unusedMs: number;
  readonly account: KubeObject | undefined;
  mounted(namespace: string): ReadonlySet<string>;
}

/**
 * Decides about a token. Only Secrets in the list of the account are removed, so manually created
 * ones are kept.
 */
function verdictOn(
  { metadata }: KubeObject,
  { now, unusedMs, account, mounted }: Circumstances,
): "keep" | "mark" | "delete" {
  const keptFrom = now - unusedMs;
  const { name = "", namespace = "", labels = {} } = metadata;
  if (metadata.deletionTimestamp !== undefined || Date.parse(metadata.creationTimestamp ?? "") >= keptFrom)
    return "keep";
  const lastUsed = labels[lastUsedLabel];
  if (lastUsed !== undefined && (parseDay(lastUsed) === undefined || lastUsed >= formatDay(keptFrom))) return "keep";
  const own: { readonly name?: string }[] = account?.secrets ?? [];
  if (!own.some((secret) => secret.name === name) || mounted(namespace).has(name)) return "keep";
  const invalidSince = labels[invalidSinceLabel];
  if (invalidSince === undefined || parseDay(invalidSince) === undefined) return "mark";
  return invalidSince >= formatDay(keptFrom) ? "keep" : "delete";
}

async function mark(
  registry: RegistryContext,
  { target }: Places,
  { index: { namespace, name } }: Entry,
  now: number,
): Promise<void> {
  await unlessConflict(() =>
    update(registry, {
      ...writes.of(target, namespace, name),
      next(current) {
        const object = current?.();
        if (object === undefined) throw new ApiError({ code: 404, reason: "NotFound", message: "the secret is gone" });
        object.metadata.labels = { ...object.metadata.labels, [invalidSinceLabel]: formatDay(now) };
        return object;
      },
    }),
  );
}

/** Deletes the Secret unless it was changed after the check. */
async function remove(
  registry: RegistryContext,
  { target }: Places,
  { index: { namespace, name }, revision }: Entry,
): Promise<void> {
  const preconditions = { resourceVersion: String(revision) };
  await unlessConflict(() =>
    deleteOne(registry, { ...writes.of(target, namespace, name), options: { dryRun: false, preconditions } }),
  );
}
