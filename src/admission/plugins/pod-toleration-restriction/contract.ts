import type { Part } from "../../../apis/fields.ts";

/** Tolerations for namespaces that have no annotations. */
export interface TolerationConfiguration {
  /** Added to new pods. */
  readonly defaults: readonly Part[];
  /** The tolerations that pods can have; empty for all. */
  readonly allowed: readonly Part[];
}
