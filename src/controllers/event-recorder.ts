/**
 * Records Events of events.k8s.io/v1 about objects. Repeated ones are a series of the first.
 * `record-event.ts` creates those of the core group.
 * Source: k8s.io/client-go@v0.36.0/tools/events.
 */

import { ApiError } from "../apimachinery/errors.ts";
import type { Logger } from "../apimachinery/logger.ts";
import type { KubeObject } from "../apimachinery/object.ts";
import { dnsSubdomainProblems } from "../lib/names/names.ts";
import type { RegistryContext, WriteRequest } from "../registry/contract.ts";
import { create, update } from "./audited-writes.ts";
import { serverWrites } from "./controller-write.ts";

interface EventRecorderOptions {
  readonly registry: RegistryContext;
  readonly logger: Logger;
  /** The component that reports. */
  readonly component: string;
  /** The name of the computer. */
  readonly hostname: string;
}

/** The content of an Event of type Warning. */
export interface Warning {
  readonly reason: string;
  readonly action: string;
  readonly note: string;
}

/** Records Events of type Warning. */
export interface EventRecorder {
  /**
   * @param object with kind and apiVersion
   * @param deciding the registry of the run that has found the problem; that of the recorder by default
   * @returns when the Event was stored, or rejected, which is logged
   */
  warn(object: KubeObject, warning: Warning, deciding?: RegistryContext): Promise<void>;
}

/** Events that are being written; more are dropped. */
const pendingMax = 1000;
/** Events that are remembered; of more, the oldest are recorded again instead of counted. */
const rememberedMax = 1000;
/** An Event that repeats after this time is a new one. */
const seriesMs = 6 * 60_000;
/** The counts of series are written at most so often, after the second occurrence. */
const refreshMs = 30 * 60_000;

interface Remembered {
  readonly name: string;
  readonly namespace: string;
  count: number;
  seenAt: number;
  writtenAt: number;
}

/** Creates the recorder of one component. */
export function openEventRecorder(own: EventRecorderOptions): EventRecorder {
  const { logger, component } = own;
  const remembered = new Map<string, Remembered>();
  let pending = 0;
  const store = async (
    options: EventRecorderOptions,
    object: KubeObject,
    warning: Warning,
    key: string,
  ): Promise<void> => {
    const { registry } = options;
    const now = registry.clock.now();
    const known = remembered.get(key);
    if (known !== undefined && now - known.seenAt <= seriesMs) {
      known.count += 1;
      known.seenAt = now;
      const isDue = known.count === 2 || now - known.writtenAt >= refreshMs;
      if (!isDue || (await writeCount(options, known))) return;
    }
    const event = newEvent(options, object, warning);
    remember(remembered, key, { ...nameOf(event), count: 1, seenAt: now, writtenAt: now });
    await create(registry, { ...requestOf(options, nameOf(event).namespace, ""), decode: () => event });
  };
  return {
    async warn(object, warning, registry = own.registry) {
      const { uid = "", name = "" } = object.metadata;
      if (pending === pendingMax) return;
      pending += 1;
      try {
        await store({ ...own, registry }, object, warning, JSON.stringify([uid, name, warning]));
      } catch (error) {
        logger.warn("Could not record an Event", { component, reason: warning.reason, error: String(error) });
      } finally {
        pending -= 1;
      }
    },
  };
}

function remember(all: Map<string, Remembered>, key: string, event: Remembered): void {
  all.delete(key);
  all.set(key, event);
  const [oldest] = all.keys();
  if (all.size > rememberedMax && oldest !== undefined) all.delete(oldest);
}

const nameOf = ({ metadata: { name = "", namespace = "" } }: KubeObject): { name: string; namespace: string } => ({
  name,
  namespace,
});

/** In the storage version, which is that of the core group. */
function newEvent(
  { registry, component, hostname }: EventRecorderOptions,
  { kind, apiVersion, metadata }: KubeObject,
  { reason, action, note }: Warning,
): KubeObject {
  const { namespace, name = "", uid, resourceVersion } = metadata;
  const about = { ...(namespace !== undefined && { namespace }), name, ...(uid !== undefined && { uid }) };
  const version = { apiVersion, ...(resourceVersion !== undefined && { resourceVersion }) };
  return {
    metadata: { name: eventName(registry, name), namespace: namespace ?? "default" },
    involvedObject: { kind, ...about, ...version },
    reason,
    message: note,
    source: {},
    type: "Warning",
    eventTime: formatMicroTime(registry.clock.now()),
    action,
    reportingComponent: component,
    reportingInstance: `${component}-${hostname}`,
  };
}

const formatMicroTime = (ms: number): string => `${new Date(ms).toISOString().slice(0, 23)}000Z`;

/** The name of the object and a number that differs between Events of one object. */
function eventName({ clock, random }: RegistryContext, name: string): string {
  const nanos = BigInt(clock.now()) * 1_000_000n + BigInt(random(4).readUInt32LE() % 1_000_000);
  const full = `${name}.${nanos.toString(16)}`;
  return dnsSubdomainProblems(full).length === 0 ? full : random(16).toString("hex");
}

/** @returns false when the Event does not exist any more */
async function writeCount(options: EventRecorderOptions, event: Remembered): Promise<boolean> {
  event.writtenAt = event.seenAt;
  const series = { count: event.count, lastObservedTime: formatMicroTime(event.seenAt) };
  try {
    await update(options.registry, {
      ...requestOf(options, event.namespace, event.name),
      createsMissing: false,
      next: (current) => ({ ...(current?.() as KubeObject), series }),
    });
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status.reason === "NotFound") return false;
    throw error;
  }
}

function requestOf({ registry: { catalog } }: EventRecorderOptions, namespace: string, name: string): WriteRequest {
  const target = catalog.find("events.k8s.io", "v1", "events");
  if (target === undefined) throw new Error("the catalog has no Events");
  return serverWrites.of(target, namespace, name);
}
