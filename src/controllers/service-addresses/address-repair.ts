/**
 * Repairs Services and IPAddresses whenever one of them changes, and all of them every three
 * minutes. Runs in each server, as in kube-apiserver.
 * Source: k8s.io/kubernetes@v1.36.0/pkg/registry/core/service/ipallocator/controller/repairip.go.
 */
import { repeat } from "../../apimachinery/repeat.ts";
import type { ResourceStore } from "../../catalog/contract.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { whenChanged } from "../../registry/when-changed.ts";
import type { Entry } from "../../watch-cache/contract.ts";
import { type Follower, followCache } from "../../watch-cache/follow.ts";
import type { Controller, ControllerOptions } from "../contract.ts";
import { openWorkQueue, type WorkQueue } from "../work-queue.ts";
import { isAddressRight, isServiceRight } from "./relation.ts";
import { type AddressRepair, repairAddress, repairService } from "./repair-addresses.ts";

/** Source: `repairLoopInterval` in k8s.io/kubernetes@v1.36.0/pkg/controlplane/instance.go. */
export const repairIntervalMs = 3 * 60_000;
const concurrency = 5;
/** Objects in the queues; the next pass adds others. */
const keysMax = 10_000;
/** IPAddresses that wait for the end of their grace period; the next pass adds others. */
const waitingMax = 10_000;
/** Objects that are checked before the event loop serves others. */
const pieceMax = 500;

/** Objects that are repaired at the same time at the start; they share commits. */
const startConcurrency = 32;

/**
 * Repairs all Services, then all IPAddresses, once.
 * @throws ApiError when a write fails
 */
export async function repairAllAddresses(repair: AddressRepair): Promise<void> {
  const { services, addresses, cidrs } = repair;
  await Promise.all([services.cache.current(), addresses.cache.current(), cidrs.cache.current()]);
  await repairEach(
    services,
    (entry) => isServiceRight(repair, entry),
    (key) => repairService(repair, key),
  );
  await repairEach(
    addresses,
    (entry) => isAddressRight(services, entry),
    (key) => repairAddress(repair, key),
  );
}

async function repairEach(
  store: ResourceStore,
  isRight: (entry: Entry) => boolean,
  repair: (key: string) => Promise<unknown>,
): Promise<void> {
  const keys: string[] = [];
  await eachEntry(store, (entry) => {
    if (!isRight(entry)) keys.push(entry.key);
  });
  const rest = keys.values(); // All workers take from it.
  const work = async (): Promise<void> => {
    for (const key of rest) await repair(key);
  };
  await Promise.all(Array.from({ length: startConcurrency }, work));
}

/** Lets the event loop serve others between pieces. */
async function eachEntry({ cache, form }: ResourceStore, visit: (entry: Entry) => void): Promise<void> {
  let read = 0;
  for (const entry of cache.latest().range(form.prefix)) {
    if (++read % pieceMax === 0) await new Promise(setImmediate);
    visit(entry);
  }
}

/** Creates the controller. */
export function addressRepairController(
  { registry, logger, queues }: ControllerOptions,
  repair: AddressRepair,
): Controller {
  return new AddressRepairController({ registry, logger, queues }, repair);
}

class AddressRepairController implements Controller {
  readonly #options: ControllerOptions;
  readonly #repair: AddressRepair;
  readonly #services: WorkQueue;
  readonly #addresses: WorkQueue;
  /** IPAddresses to check again, by key: functions that cancel it. */
  readonly #waiting = new Map<string, () => void>();
  #followers: Follower[] = [];
  #cancel = (): void => {};
  #passing = false;

  constructor(options: ControllerOptions, repair: AddressRepair) {
    this.#options = options;
    this.#repair = repair;
    this.#services = this.#queue("services", async (key, registry) => {
      await repairService({ ...repair, registry }, key);
      return true;
    });
    this.#addresses = this.#queue("ipaddresses", async (key, registry) => {
      const againMs = await repairAddress({ ...repair, registry }, key);
      if (againMs !== undefined) this.#wait(key, againMs);
      return true;
    });
  }

  start(): void {
    const { services, addresses } = this.#repair;
    const { registry } = this.#options;
    this.#followers = [
      this.#follow(services, (entry) => void this.#checkService(entry)),
      this.#follow(addresses, (entry) => void this.#checkAddress(entry)),
    ];
    this.#cancel = repeat(
      registry.clock,
      repairIntervalMs,
      whenChanged(registry.storage, () => this.#pass()),
    );
  }

  async stop(): Promise<void> {
    this.#cancel();
    for (const follower of this.#followers) follower.stop();
    for (const cancel of this.#waiting.values()) cancel();
    await Promise.all([this.#services.stop(), this.#addresses.stop()]);
  }

  #queue(name: string, reconcile: (key: string, registry: RegistryContext) => Promise<boolean>): WorkQueue {
    const { registry, logger, queues } = this.#options;
    return openWorkQueue({
      registry,
      observer: queues?.(name),
      reconcile,
      failed: (key, error) =>
        logger.warn("Failed to repair a service address, retrying", { key, error: String(error) }),
      concurrency,
      keysMax,
    });
  }

  #follow({ cache, form }: ResourceStore, set: (entry: Entry) => void): Follower {
    const { registry, logger } = this.#options;
    return followCache({
      cache,
      prefix: form.prefix,
      clock: registry.clock,
      set,
      deleted() {},
      knownKeys: () => [],
      missing() {},
      failed: (error) => logger.warn("Repair of service addresses failed to list", { error: String(error) }),
    });
  }

  /** @returns whether there is nothing to repair */
  #checkService(entry: Entry): boolean {
    const isRight = isServiceRight(this.#repair, entry);
    if (!isRight) this.#services.add(entry.key);
    return isRight;
  }

  #checkAddress(entry: Entry): boolean {
    const isRight = isAddressRight(this.#repair.services, entry);
    if (!isRight) this.#addresses.add(entry.key);
    return isRight;
  }

  #wait(key: string, delayMs: number): void {
    if (this.#waiting.has(key) || this.#waiting.size === waitingMax) return;
    const cancel = this.#options.registry.clock.after(delayMs, () => {
      this.#waiting.delete(key);
      this.#addresses.add(key);
    });
    this.#waiting.set(key, cancel);
  }

  /**
   * Checks all objects, which finds IPAddresses that were deleted.
   * @returns whether it has checked all, and found nothing to repair
   */
  async #pass(): Promise<boolean> {
    if (this.#passing) return false;
    this.#passing = true;
    let wrong = 0;
    try {
      await eachEntry(this.#repair.services, (entry) => void (this.#checkService(entry) || wrong++));
      await eachEntry(this.#repair.addresses, (entry) => void (this.#checkAddress(entry) || wrong++));
      return wrong === 0;
    } catch (error) {
      this.#options.logger.warn("Failed to check service addresses", { error: String(error) }); // The next pass may succeed.
      return false;
    } finally {
      this.#passing = false;
    }
  }
}
