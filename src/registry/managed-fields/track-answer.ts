/** Computes managed fields of answers that are not stored. Source: k8s.io/apimachinery@v0.36.0/pkg/util/managedfields. */
import { formatTime } from "../../apimachinery/clock.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { setEntries } from "../../lib/managed-fields/entries.ts";
import { fastUpdate } from "../../lib/managed-fields/fast-update.ts";
import type { Struct } from "../../lib/schema/schema.ts";
import { compare } from "../../lib/structured-merge/compare.ts";
import type { RegistryContext, WriteRequest } from "../contract.ts";
import { writerOf } from "./track.ts";

/**
 * Sets `metadata.managedFields` of an object that a POST to a subresource returns without storing
 * it (TokenRequest).
 * @param sent as decoded and defaulted; its managed fields are ignored
 * @param of the version and schema of its kind, which is not the resource's
 */
export function trackAnswer(
  registry: RegistryContext,
  request: WriteRequest,
  sent: KubeObject,
  of: { apiVersion: string; schema: Struct },
): void {
  setEntries(sent, undefined);
  const changes = compare({}, sent, of.schema);
  setEntries(
    sent,
    fastUpdate([], writerOf(request, of.apiVersion), changes, of.schema, formatTime(registry.clock.now())),
  );
}
