/**
 * Maintains ServiceCIDRs: a finalizer keeps each as long as addresses would be in no range without
 * it, and the condition Ready says whether addresses are allocated from it.
 * Source: k8s.io/kubernetes@v1.36.0/pkg/controller/servicecidrs/servicecidrs_controller.go.
 */
import { ApiError } from "../../apimachinery/errors.ts";
import { storeOf } from "../../catalog/catalog.ts";
import type { Resolved, ResourceStore } from "../../catalog/contract.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { currentEntry } from "../../registry/current-entry.ts";
import type { Entry } from "../../watch-cache/contract.ts";
import { type Follower, followCache } from "../../watch-cache/follow.ts";
import type { Controller, ControllerOptions } from "../contract.ts";
import { writesAs } from "../controller-write.ts";
import { recordEvent } from "../record-event.ts";
import { hasAddress, rangesOfCidr } from "../service-addresses/cidr-ranges.ts";
import { openWorkQueue, type WorkQueue } from "../work-queue.ts";
import { orphansAddresses, overlappingCidrs } from "./orphans.ts";
import { applyReady, type CidrWrite, setFinalizer } from "./writes.ts";

const component = "service-cidr-controller";
const account = "service-cidrs-controller";
/** As upstream's default. */
const concurrency = 5;
/** ServiceCIDRs in the queue, and waiting for the end of their grace period. */
const keysMax = 10_000;
/** After a deletion, servers have so long to stop allocating from the range. */
const deletionGraceMs = 10_000;

const ready = { status: "True", reason: "", message: "Kubernetes Service CIDR is ready" } as const;
const blocked = {
  status: "False",
  reason: "Terminating",
  message: "There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR",
} as const;

/** Creates the controller; without effect if ServiceCIDRs are not served. */
export function serviceCidrController(options: ControllerOptions): Controller {
  const { catalog } = options.registry;
  const cidrs = catalog.findServed("networking.k8s.io", "v1", "servicecidrs");
  const addresses = catalog.findServed("networking.k8s.io", "v1", "ipaddresses")?.resource.store;
  if (cidrs === undefined || addresses === undefined) return { start() {}, stop: async () => {} };
  return new ServiceCidrController(options, cidrs, addresses);
}

class ServiceCidrController implements Controller {
  readonly #options: ControllerOptions;
  readonly #target: Resolved;
  readonly #cidrs: ResourceStore;
  readonly #addresses: ResourceStore;
  readonly #queue: WorkQueue;
  /** The keys of existing ServiceCIDRs, and whether they are being deleted. */
  readonly #known = new Map<string, boolean>();
  /** Names of ServiceCIDRs whose status could not be written, which is reported once. */
  readonly #reported = new Set<string>();
  /** By key: functions that cancel the end of the grace period. */
  readonly #waiting = new Map<string, () => void>();
  #followers: Follower[] = [];

  constructor(options: ControllerOptions, target: Resolved, addresses: ResourceStore) {
    const { registry, logger, queues } = options;
    this.#options = options;
    this.#target = target;
    this.#cidrs = storeOf(target.resource);
    this.#addresses = addresses;
    this.#queue = openWorkQueue({
      registry,
      observer: queues?.("ipaddresses"),
      reconcile: (key, deciding) => this.#reconcile(key, deciding),
      failed: (key, error) => logger.warn("Failed to maintain a ServiceCIDR, retrying", { key, error: String(error) }),
      concurrency,
      keysMax,
    });
  }

  start(): void {
    this.#followers = [
      this.#follow(this.#cidrs, {
        set: (entry) => this.#setCidr(entry),
        deleted: (entry) => this.#deletedCidr(entry),
        knownKeys: () => this.#known.keys(),
        missing: (key) => this.#known.delete(key),
      }),
      this.#follow(this.#addresses, {
        set: (entry) => this.#changedAddress(entry),
        deleted: (entry) => this.#changedAddress(entry),
        knownKeys: () => [],
        missing() {},
      }),
    ];
  }

  async stop(): Promise<void> {
    for (const follower of this.#followers) follower.stop();
    for (const cancel of this.#waiting.values()) cancel();
    await this.#queue.stop();
  }

  #follow(
    { cache, form }: ResourceStore,
    callbacks: Pick<Parameters<typeof followCache>[0], "set" | "deleted" | "knownKeys" | "missing">,
  ): Follower {
    const { registry, logger } = this.#options;
    const failed = (error: unknown): void => logger.warn("ServiceCIDRs failed to list", { error: String(error) });
    return followCache({ cache, prefix: form.prefix, clock: registry.clock, failed, ...callbacks });
  }

  /** A new range can allow others to be deleted. */
  #setCidr(entry: Entry): void {
    const isNew = !this.#known.has(entry.key);
    this.#known.set(entry.key, this.#cidrs.decode(entry).metadata.deletionTimestamp !== undefined);
    this.#queue.add(entry.key);
    if (isNew) this.#addOverlapping(entry);
  }

  #deletedCidr({ key, index }: Entry): void {
    this.#known.delete(key);
    this.#reported.delete(index.name);
  }

  #addOverlapping(entry: Entry): void {
    for (const { key } of overlappingCidrs(this.#cidrs, entry)) this.#queue.add(key);
  }

  /** An address matters only to ServiceCIDRs that are being deleted. */
  #changedAddress({ index: { name } }: Entry): void {
    for (const [key, isDeleting] of this.#known) {
      const entry = isDeleting ? this.#cidrs.cache.latest().get(key) : undefined;
      if (entry !== undefined && rangesOfCidr(this.#cidrs, entry).some((range) => hasAddress(range, name)))
        this.#queue.add(key);
    }
  }

  async #reconcile(key: string, registry: RegistryContext): Promise<boolean> {
    const entry = await currentEntry(this.#cidrs, key);
    if (entry === undefined) return true;
    const cidr = this.#cidrs.decode(entry);
    const write = { registry, target: this.#target, cidr };
    if (cidr.metadata.deletionTimestamp === undefined) {
      await setFinalizer(write, true);
      await this.#setReady(write);
      return true;
    }
    if (await orphansAddresses({ cidrs: this.#cidrs, addresses: this.#addresses }, entry)) {
      await applyReady(write, component, blocked);
      return true;
    }
    const age = registry.clock.now() - Date.parse(cidr.metadata.deletionTimestamp);
    if (age < deletionGraceMs) this.#wait(key, deletionGraceMs - age);
    else await setFinalizer(write, false);
    return true;
  }

  async #setReady(write: CidrWrite): Promise<void> {
    const { name = "" } = write.cidr.metadata;
    try {
      await applyReady(write, component, ready);
      this.#reported.delete(name);
    } catch (error) {
      if (error instanceof ApiError && !this.#reported.has(name) && this.#reported.size < keysMax) {
        this.#reported.add(name);
        await this.#report(write);
      }
      throw error;
    }
  }

  #report({
    registry,
    cidr: {
      metadata: { name = "", uid = "", resourceVersion = "" },
    },
  }: CidrWrite): Promise<void> {
    const subject = {
      apiVersion: "networking.k8s.io/v1",
      kind: "ServiceCIDR",
      namespace: "",
      name,
      uid,
      resourceVersion,
    };
    const message = "The ServiceCIDR Status can not be set to Ready=True";
    const text = { type: "Warning", reason: "KubernetesServiceCIDRError", message, component } as const;
    return recordEvent(registry, writesAs(account), subject, text);
  }

  #wait(key: string, delayMs: number): void {
    if (this.#waiting.has(key) || this.#waiting.size === keysMax) return;
    const cancel = this.#options.registry.clock.after(delayMs, () => {
      this.#waiting.delete(key);
      this.#queue.add(key);
    });
    this.#waiting.set(key, cancel);
  }
}
