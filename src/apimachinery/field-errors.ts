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

/** Which declarative rule reports an error. Source: KEP-5073; apimachinery's util/validation/field, `Origin` and `ValidationStabilityLevel`. */
export interface RuleMark {
  /** What of the rule finds it: `minimum`, `format=k8s-long-name`; empty where the reason says it. */
  readonly origin: string;
  readonly level: RuleLevel;
}

/** How far a rule has come: alpha ones are compared with the hand-written validation, the others may replace it. */
export type RuleLevel = "alpha" | "beta" | "standard";

/** What a list and the views of it share. */
interface Shared {
  readonly causes: StatusCause[];
  characters: number;
  marks: Map<StatusCause, RuleMark> | undefined;
}

const noMarks: ReadonlyMap<StatusCause, RuleMark> = new Map();

export class FieldErrors {
  readonly causes: StatusCause[];
  readonly #shared: Shared;
  readonly #mark: RuleMark | undefined;
  readonly #isView: boolean;

  /** @param of makes a view that adds to another list, with a mark */
  constructor(of?: FieldErrors, mark?: RuleMark) {
    this.#shared = of === undefined ? { causes: [], characters: 0, marks: undefined } : of.#shared;
    this.#mark = mark;
    this.#isView = of !== undefined;
    this.causes = this.#shared.causes;
  }

  /**
   * The same list: what is added by the returned view is reported by a declarative rule, too. A view stays what it is, since its maker knows
   * the field.
   * @param origin the rule's, as {@link RuleMark} has it
   */
  covered(origin = ""): FieldErrors {
    return this.#isView ? this : this.marked({ origin, level: "standard" });
  }

  /** The same list: no rule reports what is added by the returned view. */
  uncovered(): FieldErrors {
    return this.#isView ? this : new FieldErrors(this, undefined);
  }

  /** The same list: what is added by the returned view has the mark. */
  marked(mark: RuleMark): FieldErrors {
    return new FieldErrors(this, mark);
  }

  /** The marks of the causes that have one. */
  get marks(): ReadonlyMap<StatusCause, RuleMark> {
    return this.#shared.marks ?? noMarks;
  }

  /** Whether errors were left out because there are too many. */
  get full(): boolean {
    return this.causes.length >= causesMax || this.#shared.characters >= charactersMax;
  }

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

  forbidden(path: string, detail = ""): void {
    this.#add("FieldValueForbidden", path, () => (detail === "" ? "Forbidden" : `Forbidden: ${detail}`));
  }

  duplicate(path: string, value: unknown, detail = ""): void {
    this.#add("FieldValueDuplicate", path, () => {
      const what = shown("Duplicate value", value);
      return detail === "" ? what : `${what}: ${detail}`;
    });
  }

  notFound(path: string, value: unknown, detail = ""): void {
    this.#add(
      "FieldValueNotFound",
      path,
      () => `Not found: ${bodyOfValue(value)}${detail === "" ? "" : `: ${detail}`}`,
    );
  }

  tooLong(path: string, bytesMax: number): void {
    this.#add(
      "FieldValueTooLong",
      path,
      () => `Too long: may not be more than ${bytesMax} ${bytesMax === 1 ? "byte" : "bytes"}`,
    );
  }

  tooLongText(path: string, charactersMost: number): void {
    const unit = charactersMost === 1 ? "character" : "characters";
    this.#add("FieldValueTooLong", path, () => `Too long: may not be more than ${charactersMost} ${unit}`);
  }

  /** A mistake of ours. */
  internal(path: string, detail: string): void {
    this.#add("InternalError", path, () => `Internal error: ${detail}`);
  }

  tooMany(path: string, count: number, countMax: number): void {
    this.#add(
      "FieldValueTooMany",
      path,
      () => `Too many: ${count}: must have at most ${countMax} ${countMax === 1 ? "item" : "items"}`,
    );
  }

  /** @param text is not made where there are too many already */
  #add(reason: string, field: string, text: () => string): void {
    if (this.full) return;
    const message = text();
    this.#shared.characters += message.length;
    this.#push({ reason, message, field }, this.#mark);
  }

  /** Takes over the errors of another list, with their marks. */
  addAll({ causes, marks }: FieldErrors): void {
    for (const cause of causes) this.#push(cause, marks.get(cause));
  }

  /** Keeps only some of the errors. */
  retain(keep: (cause: StatusCause) => boolean): void {
    const kept = this.causes.filter(keep);
    this.causes.splice(0, this.causes.length, ...kept);
  }

  #push(cause: StatusCause, mark: RuleMark | undefined): void {
    this.causes.push(cause);
    if (mark === undefined) return;
    this.#shared.marks ??= new Map();
    this.#shared.marks.set(cause, mark);
  }
}
