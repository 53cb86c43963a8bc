/** Versions of a resource that somebody else converts, one to another, and who takes his time. Source: apiextensions-apiserver pkg/apiserver/conversion */
import { ApiError } from "../apimachinery/errors.ts";
import type { KubeObject } from "../apimachinery/object.ts";
import type { Struct } from "../lib/schema/schema.ts";

export interface Converter {
  /** Of any version, by apiVersion; undefined where there is no such one. */
  schemaOf(apiVersion: string): Struct | undefined;
  /**
   * @param objects of other versions than the wanted one, as JSON; what they are stands in them
   * @returns one for each, in their order: what the wanted version knows, without defaults; the caller's
   * @throws ConversionError in upstream's words
   */
  convert(objects: readonly Buffer[], apiVersion: string, what: Converted): Promise<KubeObject[]>;
}

/** How failures name what was to be converted: one object, or a list and the place in it. */
export type Converted = "object" | "list";

/** 500: objects could not be converted. */
export class ConversionError extends ApiError {
  constructor(message: string) {
    super({ code: 500, message });
  }
}
