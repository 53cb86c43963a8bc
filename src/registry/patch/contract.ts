/**
 * The contract of patch types: how a body is parsed and applied.
 * Source: k8s.io/apiserver@v0.36.0/pkg/endpoints/handlers/patch.go.
 */
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Struct } from "../../lib/schema/schema.ts";

/** The object to patch. */
export interface PatchTarget {
  /** At the request's version, owned by the patcher; undefined when it does not exist (apply). */
  readonly current: KubeObject | undefined;
  /** Of the request's version. */
  readonly schema: Struct;
}

/** The result of a patch. Its methods must be called before the document is changed. */
export interface Patched {
  /** The whole patched document, not yet validated against the schema. */
  readonly document: unknown;
  /** Unknown and duplicate fields of the patch itself, with upstream's messages. */
  readonly problems: readonly string[];
  /** Whether members can occur repeatedly in the text of the document, which then must be decoded instead of it. */
  readonly hasRepeats?: boolean;
  /** The value in an error about the patched document. */
  describe(): string;
  /**
   * Why the document does not fit its schema, if this patch type has its own messages; absent for
   * those of Go's JSON decoder.
   */
  problem?(): string | undefined;
}

/** A parsed patch type with its body. */
export interface Patcher {
  /** Whether it creates missing objects (apply). */
  readonly createsMissing: boolean;
  /** Whether the result keeps the kind of the object, whatever the patch sets. */
  readonly keepsType: boolean;
  /**
   * Reads a body that `apply` reads at its first call otherwise, so that others are served between the two.
   * @throws ApiError when the body is malformed
   */
  read?(): void;
  /**
   * Called for each attempt.
   * @throws ApiError when the body is malformed or does not fit the object
   */
  apply(target: PatchTarget): Patched;
}
