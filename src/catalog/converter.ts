/**
 * Asynchronous conversion of custom resources, by a webhook or from former storage versions. Source:
 * `k8s.io/apiextensions-apiserver@v0.36.0/pkg/apiserver/conversion`.
 */
import { ApiError } from "../apimachinery/errors.ts";
import type { KubeObject } from "../apimachinery/object.ts";
import type { Struct } from "../lib/schema/schema.ts";

/** Converts objects of a resource between versions. */
export interface Converter {
  /** The schema of a version; undefined if the resource does not have that version. */
  schemaOf(apiVersion: string): Struct | undefined;
  /**
   * Converts objects to a version.
   *
   * @param objects as JSON, with the apiVersion of another version
   * @param apiVersion the desired version
   * @param what what error messages call the objects
   * @returns the converted objects in the same order, without defaults, but with fields that the
   *   schema of the version does not declare; the caller may modify them
   * @throws ConversionError with upstream's message
   */
  convert(objects: readonly Buffer[], apiVersion: string, what: Converted): Promise<KubeObject[]>;
  /** Removes what the schema of the version does not declare from a converted object, in place. */
  prune(object: KubeObject, apiVersion: string): void;
}

/** Whether error messages name one object, or a list and an index. */
export type Converted = "object" | "list";

/** 500: objects could not be converted. */
export class ConversionError extends ApiError {
  constructor(message: string) {
    super({ code: 500, message });
  }
}
