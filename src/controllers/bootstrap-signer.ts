/**
 * Signs the ConfigMap `cluster-info`, from which joining nodes discover the cluster, with each
 * bootstrap token that is enabled for signing. The HMAC key is the secret part of the token, as
 * kubeadm verifies it. Sources: Kubernetes docs, Authenticating with Bootstrap Tokens, "ConfigMap
 * Signing"; `k8s.io/cluster-bootstrap@v0.36.0/token/jws/jws.go`.
 */

import {
  bootstrapData,
  bootstrapExpiration,
  bootstrapNamespace,
  bootstrapTokenType,
  tokenIdOfName,
} from "../apimachinery/bootstrap-token.ts";
import { ApiError } from "../apimachinery/errors.ts";
import type { KubeObject } from "../apimachinery/object.ts";
import type { Resolved, ResourceStore } from "../catalog/contract.ts";
import type { RegistryContext } from "../registry/contract.ts";
import { currentEntry } from "../registry/current-entry.ts";
import { type Follower, followCache } from "../watch-cache/follow.ts";
import { update } from "./audited-writes.ts";
import { followBootstrapSecrets } from "./bootstrap-secrets.ts";
import type { Controller, ControllerOptions } from "./contract.ts";
import { writesAs } from "./controller-write.ts";
import { openWorkQueue } from "./work-queue.ts";

const namespace = "kube-public";
const name = "cluster-info";
const signedKey = "kubeconfig";
const signaturePrefix = "jws-kubeconfig-";
const writes = writesAs("bootstrap-signer");

interface Places {
  readonly target: Resolved;
  readonly configMaps: ResourceStore;
  readonly secrets: ResourceStore;
}

/** Creates the controller that signs `cluster-info`. */
export function bootstrapSigner({ registry, logger, queues }: ControllerOptions): Controller {
  const target = registry.catalog.findServed("", "v1", "configmaps");
  const configMaps = target?.resource.store;
  const secrets = registry.catalog.findServed("", "v1", "secrets")?.resource.store;
  if (target === undefined || configMaps === undefined || secrets === undefined)
    return { start() {}, stop: async () => {} };
  const queue = openWorkQueue({
    registry,
    observer: queues?.("bootstrap_signer_queue"),
    reconcile: (_key, deciding) => sign(deciding, { target, configMaps, secrets }),
    failed: (_key, error) =>
      logger.warn("Failed to sign the ConfigMap cluster-info, retrying", { error: String(error) }),
    concurrency: 1,
    keysMax: 1,
  });
  const enqueue = (): void => void queue.add(name);
  let followers: Pick<Follower, "stop">[] = [];
  return {
    start() {
      const key = configMaps.keyOf(namespace, name);
      const failed = (error: unknown): void => logger.warn("Bootstrap signer failed to list", { error: String(error) });
      const ofConfigMap = followCache({
        cache: configMaps.cache,
        prefix: key,
        clock: registry.clock,
        set(entry) {
          if (entry.key === key) enqueue();
        },
        deleted() {},
        knownKeys: () => [],
        missing() {},
        failed,
      });
      followers = [ofConfigMap, followBootstrapSecrets({ registry, secrets, changed: enqueue, failed })];
    },
    async stop() {
      for (const follower of followers) follower.stop();
      await queue.stop();
    },
  };
}

/** Updates the signatures. @returns false when the signed content was changed concurrently */
async function sign(registry: RegistryContext, { target, configMaps, secrets }: Places): Promise<boolean> {
  const entry = await currentEntry(configMaps, configMaps.keyOf(namespace, name));
  const found = entry && configMaps.decode(entry);
  const content = found && dataOf(found)[signedKey];
  if (found === undefined || content === undefined) return true;
  const signatures = await signaturesOf(content, await signingTokens(secrets, registry.clock.now()));
  if (!differs(dataOf(found), signatures)) return true;
  let isSame = true;
  try {
    await update(registry, {
      ...writes.of(target, namespace, name),
      next(current) {
        const object = current?.() ?? found;
        isSame = object.metadata.uid === found.metadata.uid && dataOf(object)[signedKey] === content;
        if (!isSame) return object;
        object.data = { ...withoutSignatures(dataOf(object)), ...signatures };
        return object;
      },
    });
  } catch (error) {
    // The ConfigMap was deleted or changed concurrently; its event triggers the next
    // reconciliation.
    if (!(error instanceof ApiError) || !["Conflict", "NotFound"].includes(error.status.reason ?? "")) throw error;
  }
  return isSame;
}

type Data = Readonly<Record<string, string>>;

function dataOf(object: KubeObject): Data {
  return object.data ?? {};
}

function withoutSignatures(data: Data): Data {
  return Object.fromEntries(Object.entries(data).filter(([key]) => !key.startsWith(signaturePrefix)));
}

function differs(data: Data, signatures: Data): boolean {
  const keys = Object.keys(data).filter((key) => key.startsWith(signaturePrefix));
  return keys.length !== Object.keys(signatures).length || keys.some((key) => data[key] !== signatures[key]);
}

/** @returns the secret parts of the tokens that sign, by token id */
async function signingTokens(
  { cache, form, decode }: ResourceStore,
  now: number,
): Promise<ReadonlyMap<string, Buffer>> {
  const tokens = new Map<string, Buffer>();
  for (const entry of (await cache.current()).range(`${form.prefix}${bootstrapNamespace}/`)) {
    if (entry.index.fields.get("type") !== bootstrapTokenType) continue;
    const secret = decode(entry);
    const id = tokenIdOfName(entry.index.name);
    const key = bootstrapData(secret, "token-secret");
    if (id === undefined || bootstrapData(secret, "token-id").toString() !== id || key.length === 0) continue;
    if (now >= (bootstrapExpiration(secret) ?? Number.POSITIVE_INFINITY)) continue;
    if (bootstrapData(secret, "usage-bootstrap-signing").toString() === "true") tokens.set(id, key);
  }
  return tokens;
}

/** Creates detached signatures, which do not contain the payload. Source: RFC 7515, appendix F. */
async function signaturesOf(content: string, tokens: ReadonlyMap<string, Buffer>): Promise<Data> {
  if (tokens.size === 0) return {};
  const { CompactSign } = await import("jose"); // Loaded on first use, to keep the start fast.
  const payload = Buffer.from(content);
  const signed = Array.from(tokens, async ([id, key]): Promise<[string, string]> => {
    const [header, , signature] = (
      await new CompactSign(payload).setProtectedHeader({ alg: "HS256", kid: id }).sign(key)
    ).split(".");
    return [`${signaturePrefix}${id}`, `${header}..${signature}`];
  });
  return Object.fromEntries(await Promise.all(signed));
}
