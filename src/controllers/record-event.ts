/** Creates Events about objects, as upstream's event recorder does. */

import { formatTime } from "../apimachinery/clock.ts";
import type { RegistryContext } from "../registry/contract.ts";
import { create } from "./audited-writes.ts";
import type { ControllerWrites } from "./controller-write.ts";

/** The object that an Event is about. */
export interface EventSubject {
  readonly apiVersion: string;
  readonly kind: string;
  /** Empty for cluster-scoped kinds. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion?: string;
}

interface EventText {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
  /** The component that reports the Event. */
  readonly component: string;
}

/**
 * Creates an Event in the namespace of the subject, or in `default`; none if Events are not served.
 * Source: `k8s.io/client-go@v0.36.0/tools/record/event.go`, makeEvent.
 *
 * @throws ApiError
 */
export async function recordEvent(
  registry: RegistryContext,
  writes: ControllerWrites,
  subject: EventSubject,
  { type, reason, message, component }: EventText,
): Promise<void> {
  const target = registry.catalog.findServed("", "v1", "events");
  if (target === undefined) return;
  const { apiVersion, kind, name, uid, resourceVersion } = subject;
  const namespace = subject.namespace === "" ? "default" : subject.namespace;
  const at = formatTime(registry.clock.now());
  const suffix = registry.random(8).toString("hex");
  await create(registry, {
    ...writes.of(target, namespace, ""),
    decode: () => ({
      metadata: { name: `${name}.${suffix}`, namespace },
      involvedObject: {
        kind,
        ...(subject.namespace !== "" && { namespace: subject.namespace }),
        name,
        uid,
        apiVersion,
        ...(resourceVersion !== undefined && { resourceVersion }),
      },
      reason,
      message,
      source: { component },
      firstTimestamp: at,
      lastTimestamp: at,
      count: 1,
      type,
      reportingComponent: component,
    }),
  });
}
