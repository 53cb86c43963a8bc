/**
 * Sets the condition `Available` of APIServices. Sources:
 * k8s.io/kube-aggregator@v0.36.0/pkg/controllers/status/{remote,local}.
 */

import { nothingToDo } from "../../apimachinery/clock.ts";
import { repeat } from "../../apimachinery/repeat.ts";
import {
  type ApiServices,
  type ApiServiceView,
  type Backends,
  isRemote,
} from "../../forwarding/aggregator/contract.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import type { ServiceSource } from "../../webhook/service-resolver.ts";
import type { Controller, ControllerOptions, QueueObserver } from "../contract.ts";
import { openWorkQueue } from "../work-queue.ts";
import { apiServiceTarget } from "./api-service-store.ts";
import { type Availability, checkAvailability } from "./check-availability.ts";
import { FollowedEndpoints } from "./followed-endpoints.ts";
import { type AvailabilityObserver, writeAvailability } from "./write-availability.ts";

interface AvailabilityOptions extends ControllerOptions {
  readonly services: ApiServices;
  readonly source: ServiceSource;
  readonly backends: Backends;
  readonly observer: AvailabilityObserver;
}

/** Servers that are checked at once. */
const concurrency = 5;
/** Maximum APIServices in the queue; others wait for the next check. */
const keysMax = 20_000;
/** Interval of checks of all servers. */
const checkMs = 30_000;
const firstRetryMs = 5;
const retryMsMax = 30_000;
const local: Availability = {
  status: "True",
  reason: "Local",
  message: "Local APIServices are always available",
};

/** Creates the controller. Services and endpoints are followed when a remote APIService exists. */
export function apiServiceAvailability(options: AvailabilityOptions): Controller {
  const { registry, logger, queues, services } = options;
  const target = apiServiceTarget(registry);
  if (target === undefined) return { start() {}, stop: async () => {} };
  const queueOf = (
    observer: QueueObserver | undefined,
    check: (view: ApiServiceView, registry: RegistryContext) => Promise<boolean>,
  ) =>
    openWorkQueue({
      registry,
      observer,
      async reconcile(name, deciding) {
        const view = services.get(name);
        return view === undefined || check(view, deciding);
      },
      failed: (name, error) => logger.warn("Failed to check an APIService, retrying", { name, error: String(error) }),
      concurrency,
      keysMax,
      firstDelayMs: firstRetryMs,
      delayMaxMs: retryMsMax,
    });
  const localQueue = queueOf(queues?.("LocalAvailabilityController"), (view, deciding) =>
    isRemote(view) ? Promise.resolve(true) : writeAvailability({ ...options, registry: deciding }, target, view, local),
  );
  const remoteQueue = queueOf(queues?.("RemoteAvailabilityController"), async (view, deciding) => {
    if (!isRemote(view)) return true;
    const availability = await checkAvailability(view, options);
    const written = await writeAvailability({ ...options, registry: deciding }, target, view, availability);
    return written && availability.reason !== "FailedDiscoveryCheck"; // It is checked again soon.
  });
  const endpoints = new FollowedEndpoints(options, (name) => remoteQueue.add(name));
  const enqueue = (view: ApiServiceView): void => {
    if (!isRemote(view)) return void localQueue.add(view.name);
    endpoints.follow();
    remoteQueue.add(view.name);
  };
  let stopFollowing = (): void => {};
  let cancelTimer = (): void => {};
  const checkAll = (): unknown => {
    const remotes = services.remotes();
    for (const { name } of remotes) remoteQueue.add(name);
    return remotes.length === 0 ? nothingToDo : undefined;
  };
  return {
    start() {
      for (const view of services.list()) enqueue(view);
      stopFollowing = services.onChange((_old, next) => next && enqueue(next));
      cancelTimer = repeat(registry.clock, checkMs, checkAll);
    },
    async stop() {
      cancelTimer();
      stopFollowing();
      endpoints.stop();
      await Promise.all([localQueue.stop(), remoteQueue.stop()]);
    },
  };
}
