/** Checks of pods, and what they report. Source: Kubernetes docs, "Pod Security Standards". */
import type { Level } from "./levels.ts";
import type { Container, PodSpec, SecurityContext } from "./pod.ts";

/** A rule of a standard, which can change from version to version. */
export interface Check {
  readonly id: string;
  /** Checks of `baseline` also belong to `restricted`. */
  readonly level: Exclude<Level, "privileged">;
  /** In increasing order; each applies until the next. */
  readonly versions: readonly CheckVersion[];
}

/** A check as it is since one minor version. */
export interface CheckVersion {
  /** The first minor version. */
  readonly since: number;
  readonly check: CheckPod;
  /** Checks of `baseline` that a check of `restricted` replaces. */
  readonly overrides?: readonly string[];
}

/** Checks a pod. @returns undefined if the pod is allowed */
export type CheckPod = (pod: CheckedPod) => Violation | undefined;

/** A violated check. */
export interface Violation {
  /** Upstream's short reason. */
  readonly reason: string;
  /** Upstream's details. */
  readonly detail: string;
  /** The fields that violate the check, at least one. */
  readonly fields: readonly ViolatingField[];
}

/** A field, and what the check allows there. */
export interface ViolatingField {
  /** From the pod, such as `spec.containers[0].securityContext.privileged`. */
  readonly path: string;
  /** Undefined if the field is not set. */
  readonly value: unknown;
  /** Allowed values, for people, such as `false, or unset`. */
  readonly allowed: string;
}

/** A pod as checks read it. */
export interface CheckedPod {
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: PodSpec;
  /** The pod itself, which has a security context, too. */
  readonly pod: Holder;
  /** Init containers, containers and ephemeral containers. */
  readonly containers: readonly CheckedContainer[];
}

/** A pod or a container, with its security context. */
export interface Holder {
  /** The name of the container; undefined for the pod. */
  readonly name: string | undefined;
  readonly securityContext: SecurityContext | undefined;
  /** Returns the path of the pod's spec or of the container. */
  readonly path: () => string;
}

/** A container as checks read it. */
export interface CheckedContainer extends Holder {
  readonly name: string;
  readonly container: Container;
}
