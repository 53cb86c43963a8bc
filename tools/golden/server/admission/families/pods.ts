/** Pods and the requests that write them, for the plugins that set defaults of pods and check them. */
import type { AdmissionRequest, Sent, SetupStep } from "../../../../../test/support/admission-golden.ts";
import { core, request } from "./builders.ts";

/** Plugins that other families record, so that these rows do not depend on them. */
export const recordedElsewhere: readonly string[] = ["LimitRanger", "PodSecurity", "ResourceQuota"];

/** @param spec fields that replace the defaults */
export const pod = (name: string, spec: Sent = {}, metadata: Sent = {}): Sent => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, ...metadata },
  spec: { containers: [{ name: "c", image: "example.com/i" }], ...spec },
});

export const createPod = (inNamespace: string, body: Sent, query = ""): AdmissionRequest =>
  request(`POST ${core(inNamespace, "pods")}${query}`, body);

export const replacePod = (inNamespace: string, body: Sent, subresource = ""): AdmissionRequest =>
  request(`PUT ${core(inNamespace, "pods", body.metadata.name)}${subresource}`, body);

export const patchPod = (inNamespace: string, name: string, patch: unknown, subresource = ""): AdmissionRequest =>
  request(
    `PATCH ${core(inNamespace, "pods", name)}${subresource}`,
    patch,
    Array.isArray(patch) ? "application/json-patch+json" : "application/strategic-merge-patch+json",
  );

export const applyPod = (inNamespace: string, body: Sent): AdmissionRequest =>
  request(
    `PATCH ${core(inNamespace, "pods", body.metadata.name)}?fieldManager=applier`,
    body,
    "application/apply-patch+yaml",
  );

export const account = (inNamespace: string, name: string, rest: Sent = {}): SetupStep => [
  core(inNamespace, "serviceaccounts"),
  {
    metadata: { name, ...rest.metadata },
    ...Object.fromEntries(Object.entries(rest).filter(([key]) => key !== "metadata")),
  },
];

/** All pairs of two lists. */
export function pairs<One, Other>(ones: readonly One[], others: readonly Other[]): (readonly [One, Other])[] {
  return ones.flatMap((one) => others.map((other) => [one, other] as const));
}

type Random = (below: number) => number;

export const pick = <Value>(random: Random, list: readonly Value[]): Value => list[random(list.length)] as Value;

/** The fields that have a value. */
export const present = (fields: Sent): Sent =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
