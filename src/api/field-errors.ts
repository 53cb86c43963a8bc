/** Collects everything that is wrong with one object, so that all of it comes back at once. Source: apimachinery's util/validation/field. */

import { encodeAny } from "../lib/json/encode-any.ts";
import { formatGoNumber, GoPrinted } from "../lib/json/go-value.ts";
import { joinErrors, quoteGo } from "../lib/json/quote.ts";
import type { StatusCause } from "./errors.ts";

const bodyOfValue = (value: unknown): string => {
  if (typeof value === "string") return quoteGo(value);
  if (typeof value === "number") return formatGoNumber(value);
  return value instanceof GoPrinted ? value.text : encodeAny(value);
};

/** In the place of a value that is not shown. */
export const omitted = Symbol("omitted");

const shown = (what: string, value: unknown): string => (value === omitted ? what : `${what}: ${bodyOfValue(value)}`);

/** Errors told at once. Each is longer than what it is about: a body of 3 MiB could ask for an answer of a hundred. Upstream tells all. */
const causesMax = 1000;
/** Of their messages together: each may show a large value. The error that goes beyond is the last one. */
const charactersMax = 4 << 20;

export class FieldErrors {
  readonly causes: StatusCause[] = [];
  #characters = 0;

  get empty(): boolean {
    return this.causes.length === 0;
  }

  /** All of it as one text; empty when nothing is wrong. */
  get text(): string {
    return joinErrors(this.causes.map(({ field, message }) => `${field}: ${message}`));
  }

  /** @param path dotted, with `[index]` for lists and `[key]` for maps, such as `spec.containers[0].name` */
  required(path: string, detail = ""): void {
    this.#add("FieldValueRequired", path, () => (detail === "" ? "Required value" : `Required value: ${detail}`));
  }

  /** @param value `omitted` when it is not to be shown */
  invalid(path: string, value: unknown, detail: string): void {
    this.#add("FieldValueInvalid", path, () => {
      const what = shown("Invalid value", value);
      return detail === "" ? what : `${what}: ${detail}`;
    });
  }

  typeInvalid(path: string, value: unknown, detail: string): void {
    this.#add("FieldValueTypeInvalid", path, () => `Invalid value: ${bodyOfValue(value)}: ${detail}`);
  }

  /** @param supported sorted as upstream sorts them, which is by text */
  notSupported(path: string, value: unknown, supported: readonly string[]): void {
    this.#add("FieldValueNotSupported", path, () => {
      const list = supported.map(quoteGo).join(", ");
      return `Unsupported value: ${bodyOfValue(value)}${list === "" ? "" : `: supported values: ${list}`}`;
    });
  }

  forbidden(path: string, detail: string): void {
    this.#add("FieldValueForbidden", path, () => `Forbidden: ${detail}`);
  }

  duplicate(path: string, value: unknown, detail = ""): void {
    this.#add("FieldValueDuplicate", path, () => {
      const what = shown("Duplicate value", value);
      return detail === "" ? what : `${what}: ${detail}`;
    });
  }

  notFound(path: string, value: unknown, detail = ""): void {
    this.#add("FieldValueNotFound", path, () => `Not found: ${bodyOfValue(value)}${detail === "" ? "" : `: ${detail}`}`);
  }

  tooLong(path: string, bytesMax: number): void {
    this.#add("FieldValueTooLong", path, () => `Too long: may not be more than ${bytesMax} ${bytesMax === 1 ? "byte" : "bytes"}`);
  }

  /** A mistake of ours. */
  internal(path: string, detail: string): void {
    this.#add("InternalError", path, () => `Internal error: ${detail}`);
  }

  tooMany(path: string, count: number, countMax: number): void {
    this.#add("FieldValueTooMany", path, () => `Too many: ${count}: must have at most ${countMax} ${countMax === 1 ? "item" : "items"}`);
  }

  /** @param text is not made where there are too many already */
  #add(reason: string, field: string, text: () => string): void {
    if (this.causes.length >= causesMax || this.#characters >= charactersMax) return;
    const message = text();
    this.#characters += message.length;
    this.causes.push({ reason, message, field });
  }
}
