/** One way of patching: how the body is read and applied. Source: resource-api §4.5. */
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Struct } from "../../lib/schema/schema.ts";

export interface PatchTarget {
  /** The object as JSON at the request's version, the patcher's to change; undefined when there is none (apply). */
  readonly current: KubeObject | undefined;
  /** Of the request's version. */
  readonly schema: Struct;
}

/** What is told of it is told before the document is changed. */
export interface Patched {
  /** The whole patched document, not yet checked against the schema. */
  readonly document: unknown;
  /** Unknown and duplicate fields of the patch itself, upstream's texts. */
  readonly problems: readonly string[];
  /** What an error about the patched document shows as its value. */
  describe(): string;
  /** Why the document does not fit its schema, in this patch's words; undefined where those are Go's JSON decoder's. */
  problem?(): string | undefined;
}

export interface Patcher {
  /** Whether it creates what does not exist (apply). */
  readonly createsMissing: boolean;
  /** Whether what it makes is of the kind it was, whatever it says. */
  readonly keepsType: boolean;
  /** Called once for each attempt. @throws ApiError when the body is no such patch or does not fit the object */
  apply(target: PatchTarget): Patched;
}
