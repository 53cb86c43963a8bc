/**
 * Publishes the certificate authorities of clients and front proxies in the ConfigMap
 * `extension-apiserver-authentication`, for extension API servers. Keeps the authorities that other
 * API servers have published. Source:
 * `k8s.io/kubernetes@v1.36.0/pkg/controlplane/controller/clusterauthenticationtrust`.
 */

import type { X509Certificate } from "node:crypto";
import { ApiError } from "../apimachinery/errors.ts";
import type { KubeObject } from "../apimachinery/object.ts";
import type { Resolved, ResourceStore } from "../catalog/contract.ts";
import { deepEqual } from "../lib/json/values.ts";
import type { Authorities } from "../lib/x509/authorities.ts";
import { formatCertificates, parseCertificates } from "../lib/x509/pem.ts";
import type { RegistryContext, WriteRequest } from "../registry/contract.ts";
import { currentEntry } from "../registry/current-entry.ts";
import { serverWrite } from "../registry/server-write.ts";
import type { Entry } from "../watch-cache/contract.ts";
import { derivedOnce } from "../watch-cache/derived-once.ts";
import { type Follower, followCache } from "../watch-cache/follow.ts";
import { create, deleteOne, update } from "./audited-writes.ts";
import type { Controller, ControllerOptions } from "./contract.ts";
import { openWorkQueue } from "./work-queue.ts";

/** The headers in which authenticating proxies send the user, and the names of their certificates. */
interface ProxyHeaders {
  readonly allowedNames: readonly string[];
  readonly usernameHeaders: readonly string[];
  readonly uidHeaders: readonly string[];
  readonly groupHeaders: readonly string[];
  readonly extraHeaderPrefixes: readonly string[];
}

/** The authorities and headers to publish. */
export interface ClusterTrust {
  clientAuthorities(): Authorities;
  /** Undefined when no front proxy is configured. */
  readonly proxyAuthorities: (() => Authorities) | undefined;
  readonly requestHeader: ProxyHeaders;
}

interface ClusterTrustOptions extends ControllerOptions {
  readonly trust: ClusterTrust;
}

interface ClusterTrustController extends Controller {
  /** Updates the ConfigMap, because the authorities have changed. */
  update(): void;
}

const namespace = "kube-system";
const name = "extension-apiserver-authentication";
/** Interval of updates, which remove expired certificates. */
const updateMs = 60_000;
/** Tolerance for clocks that are slow. */
const expiredMs = 5 * 60_000;

/** Creates the controller. */
export function clusterTrustController({
  registry,
  logger,
  trust,
  queues,
}: ClusterTrustOptions): ClusterTrustController {
  const target = registry.catalog.findServed("", "v1", "configmaps");
  const store = target?.resource.store;
  if (target === undefined || store === undefined) return { start() {}, update() {}, stop: async () => {} };
  const key = store.keyOf(namespace, name);
  const queue = openWorkQueue({
    registry,
    observer: queues?.("cluster_authentication_trust_controller"),
    async reconcile(_key, deciding) {
      await write(deciding, trust, { target, store });
      return true;
    },
    failed: (_key, error) =>
      logger.warn("Failed to publish the authentication ConfigMap, retrying", { error: String(error) }),
    concurrency: 1,
    keysMax: 1,
  });
  const enqueue = (): void => void queue.add(name);
  let follower: Follower | undefined;
  let cancelTimer = (): void => {};
  const updatePeriodically = (): void => {
    enqueue();
    cancelTimer = registry.clock.after(updateMs, updatePeriodically);
  };
  return {
    update: enqueue,
    start() {
      updatePeriodically();
      const changed = (entry: { readonly key: string }): void => {
        if (entry.key === key) enqueue();
      };
      follower = followCache({
        cache: store.cache,
        prefix: key,
        clock: registry.clock,
        set: changed,
        deleted: changed,
        knownKeys: () => [],
        missing() {},
        relisted: enqueue,
        failed: (error) => logger.warn("Failed to read the authentication ConfigMap", { error: String(error) }),
      });
    },
    async stop() {
      cancelTimer();
      follower?.stop();
      await queue.stop();
    },
  };
}

interface Place {
  readonly target: Resolved;
  readonly store: ResourceStore;
}

async function write(registry: RegistryContext, trust: ClusterTrust, { target, store }: Place): Promise<void> {
  const entry = await currentEntry(store, store.keyOf(namespace, name));
  const found = entry && publishedIn(entry, store);
  const now = registry.clock.now();
  if (found !== undefined && deepEqual(trustData(found, trust, now), found.data)) return;
  const request = (objectName: string): WriteRequest => serverWrite({ target, namespace, name: objectName });
  const decode = (): KubeObject => ({
    kind: "ConfigMap",
    apiVersion: "v1",
    metadata: { name, namespace },
    data: trustData(published({}), trust, now),
  });
  if (found === undefined) return void (await create(registry, { ...request(""), decode }));
  try {
    await update(registry, {
      ...request(name),
      next(current) {
        const object = current?.() ?? decode();
        object.data = trustData(published(object.data ?? {}), trust, now);
        return object;
      },
    });
  } catch (error) {
    // The next attempt creates it again.
    if (isTooLarge(error)) await deleteOne(registry, { ...request(name), options: { dryRun: false } });
    throw error;
  }
}

function isTooLarge(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  return (
    error.status.code === 413 ||
    (error.status.reason === "Invalid" && (error.status.message ?? "").includes("Too long"))
  );
}

type Data = Readonly<Record<string, string>>;

/** The data of the ConfigMap, and the certificates in it. */
interface Published {
  readonly data: Data;
  readonly clients: readonly X509Certificate[];
  readonly proxies: readonly X509Certificate[];
}

const publishedIn = derivedOnce((entry: Entry, store: ResourceStore) => published(store.decode(entry).data ?? {}));

/** @throws Error when data cannot be parsed, so that it is not overwritten */
function published(data: Data): Published {
  const certificates = (text: string | undefined) => (text ? parseCertificates(text) : []);
  return {
    data,
    clients: certificates(data["client-ca-file"]),
    proxies: certificates(data["requestheader-client-ca-file"]),
  };
}

/**
 * Merges the existing data with that of this server.
 * @throws Error when an existing list cannot be parsed, so that it is not overwritten
 */
function trustData(
  found: Published,
  { clientAuthorities: clients, proxyAuthorities: proxies, requestHeader }: ClusterTrust,
  now: number,
): Data {
  const list = (key: string, own: readonly string[]): [string, string] => [
    key,
    formatList([...parseList(found.data[key]), ...own]),
  ];
  const entryOf = (key: string, certificates: readonly X509Certificate[]): [string, string][] => {
    const pem = certificatesOf(certificates, now);
    return pem === "" ? [] : [[key, pem]];
  };
  const ofClients = entryOf("client-ca-file", [...found.clients, ...clients().certificates]);
  const ofProxies = entryOf("requestheader-client-ca-file", [...found.proxies, ...(proxies?.().certificates ?? [])]);
  if (ofProxies.length === 0) return Object.fromEntries(ofClients);
  const headers = proxies === undefined ? none : requestHeader;
  const uids = list("requestheader-uid-headers", headers.uidHeaders);
  return Object.fromEntries([
    ...ofClients,
    list("requestheader-username-headers", headers.usernameHeaders),
    ...(uids[1] === "[]" ? [] : [uids]),
    list("requestheader-group-headers", headers.groupHeaders),
    list("requestheader-extra-headers-prefix", headers.extraHeaderPrefixes),
    ...ofProxies,
    list("requestheader-allowed-names", headers.allowedNames),
  ]);
}

const none: ProxyHeaders = {
  allowedNames: [],
  usernameHeaders: [],
  uidHeaders: [],
  groupHeaders: [],
  extraHeaderPrefixes: [],
};

function parseList(text: string | undefined): readonly string[] {
  if (text === undefined || text === "") return [];
  const list: unknown = JSON.parse(text);
  if (!Array.isArray(list) || list.some((one) => typeof one !== "string"))
    throw new Error("a list of names is no list of texts");
  return list;
}

/** Encodes the distinct names as Go encodes JSON. */
function formatList(names: readonly string[]): string {
  const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify([...new Set(names)]).replace(/[<>&\u2028\u2029]/g, escaped);
}

/** Formats the distinct certificates that have not expired. */
function certificatesOf(certificates: readonly X509Certificate[], now: number): string {
  const good = certificates.filter(({ validToDate }) => validToDate.getTime() > now - expiredMs);
  return formatCertificates([...new Map(good.map((one) => [one.fingerprint256, one])).values()]);
}
