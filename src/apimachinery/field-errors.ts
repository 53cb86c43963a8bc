/**
 * Collects all validation errors of one object. Source:
 * k8s.io/apimachinery@v0.36.0/pkg/util/validation/field/errors.go.
 */
import { encodeAny } from "../lib/json/encode-any.ts";
import { formatGoFloat, formatGoNumber, GoPrinted } from "../lib/json/go-value.ts";
import { NumberLiteral } from "../lib/json/number-literal.ts";
import { joinErrors, quoteGo } from "../lib/json/quote.ts";
import { hasMoreParts } from "../lib/json/values.ts";
import type { StatusCause } from "./errors.ts";

const bodyOfValue = (value: unknown): string => {
  if (typeof value === "string") return quoteGo(value);
  if (typeof value === "number") return formatGoNumber(value);
  if (value instanceof NumberLiteral) return formatGoFloat(value.value);
  return value instanceof GoPrinted ? value.text : encodeAny(value);
};

/** A value whose Go type is `string`, for {@link FieldErrors.notSupported}. */
export function plainText(text: string): GoPrinted {
  return new GoPrinted(quoteGo(text));
}

/**
 * A value whose Go type is a pointer to text, or a type of its own such as `core.ResourceName`: messages show it as JSON,
 * with `<`, `>` and `&` escaped.
 */
export function typedText(text: string | null | undefined): GoPrinted {
  return new GoPrinted(encodeAny(text ?? null));
}

/** Passed instead of a value that the message does not show. */
export const omitted = Symbol("omitted");

/**
 * A value with more objects and lists than this is not shown. Go's form of an empty struct can have a thousand bytes, so
 * that a body of 3 MiB could cause an answer of 100 MiB. Upstream has no limit.
 */
export const shownPartsMax = 10_000;

const isShown = (value: unknown): boolean =>
  value !== omitted && !(typeof value === "object" && value !== null && hasMoreParts(value, shownPartsMax));

const shown = (what: string, value: unknown): string => (isShown(value) ? `${what}: ${bodyOfValue(value)}` : what);

/**
 * The maximum number of reported errors. Without it, a body of 3 MiB could cause an answer of 100
 * MiB. Upstream has no limit.
 */
const causesMax = 1000;
/**
 * The limit of all messages together, because each can show a large value. The error that exceeds
 * it is the last one.
 */
const charactersMax = 4 << 20;

/**
 * Identifies the declarative rule that reports an error. Source: KEP-5073, `Origin` and
 * `ValidationStabilityLevel`.
 */
interface RuleMark {
  /**
   * The part of the rule, such as `minimum` or `format=k8s-long-name`; empty if the reason
   * identifies it.
   */
  readonly origin: string;
  readonly level: RuleLevel;
}

/**
 * The stability of a rule. Alpha rules are only compared with the hand-written validation; the
 * others can replace it.
 */
export type RuleLevel = "alpha" | "beta" | "standard";

/** The state that a list shares with its views. */
interface Shared {
  readonly causes: StatusCause[];
  characters: number;
  /** Whether an error that exceeds a limit ends the validation. */
  endsWhenFull: boolean;
  marks: Map<StatusCause, RuleMark> | undefined;
}

/** Ends a validation whose list of errors is full. */
class FullListError extends Error {}

const noMarks: ReadonlyMap<StatusCause, RuleMark> = new Map();

/**
 * A bounded list of field errors. Views add to the same list and mark the errors with a declarative
 * rule.
 */
export class FieldErrors {
  readonly causes: StatusCause[];
  readonly #shared: Shared;
  readonly #mark: RuleMark | undefined;
  readonly #isView: boolean;

  /** @param list creates a view of this list that adds errors with the mark */
  constructor(list?: FieldErrors, mark?: RuleMark) {
    this.#shared =
      list === undefined ? { causes: [], characters: 0, endsWhenFull: false, marks: undefined } : list.#shared;
    this.#mark = mark;
    this.#isView = list !== undefined;
    this.causes = this.#shared.causes;
  }

  /**
   * Returns a view for errors that a declarative rule reports, too. A view returns itself, because
   * its creator has chosen the mark.
   *
   * @param origin the `origin` of {@link RuleMark}
   */
  covered(origin = ""): FieldErrors {
    return this.#isView ? this : this.marked({ origin, level: "standard" });
  }

  /** Returns a view for errors that no declarative rule reports. */
  uncovered(): FieldErrors {
    return this.#isView ? this : new FieldErrors(this, undefined);
  }

  /** Returns a view that adds errors with the mark. */
  marked(mark: RuleMark): FieldErrors {
    return new FieldErrors(this, mark);
  }

  /** The marks of the causes that have one. */
  get marks(): ReadonlyMap<StatusCause, RuleMark> {
    return this.#shared.marks ?? noMarks;
  }

  /** Whether a limit is reached, so that further errors are dropped. */
  get full(): boolean {
    return this.causes.length >= causesMax || this.#shared.characters >= charactersMax;
  }

  get empty(): boolean {
    return this.causes.length === 0;
  }

  /** All errors as one message; empty if there are none. */
  get text(): string {
    return joinErrors(this.causes.map(({ field, message }) => `${field}: ${message}`));
  }

  /**
   * @param path field names separated by dots, with `[index]` for lists and `[key]` for maps, such
   *   as `spec.containers[0].name`
   */
  required(path: string, detail = ""): void {
    this.#add("FieldValueRequired", path, () => (detail === "" ? "Required value" : `Required value: ${detail}`));
  }

  /** @param value `omitted` if the message must not show it */
  invalid(path: string, value: unknown, detail: string): void {
    this.#add("FieldValueInvalid", path, () => {
      const what = shown("Invalid value", value);
      return detail === "" ? what : `${what}: ${detail}`;
    });
  }

  typeInvalid(path: string, value: unknown, detail: string): void {
    this.#add("FieldValueTypeInvalid", path, () => `${shown("Invalid value", value)}: ${detail}`);
  }

  /**
   * @param value a text is one of a type of its own, whose text Go shows as JSON; {@link plainText}
   *   for others
   * @param supported sorted as text
   */
  notSupported(path: string, value: unknown, supported: readonly string[]): void {
    this.#add("FieldValueNotSupported", path, () => {
      const list = supported.map(quoteGo).join(", ");
      const what =
        typeof value === "string" ? `Unsupported value: ${encodeAny(value)}` : shown("Unsupported value", value);
      return `${what}${list === "" ? "" : `: supported values: ${list}`}`;
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
    this.#add("FieldValueNotFound", path, () => `${shown("Not found", value)}${detail === "" ? "" : `: ${detail}`}`);
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

  /** Reports a bug of the server. */
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

  /** @param text is not called if a limit is reached */
  #add(reason: string, field: string, text: () => string): void {
    if (this.#isFull()) return;
    const message = text();
    this.#shared.characters += message.length;
    this.#push({ reason, message, field }, this.#mark);
  }

  /** Adds the errors of another list with their marks. */
  addAll({ causes, marks }: FieldErrors): void {
    for (const cause of causes) {
      if (this.#isFull()) return;
      this.#shared.characters += cause.message?.length ?? 0;
      this.#push(cause, marks.get(cause));
    }
  }

  /**
   * Runs a validation that adds to this list, at most until the list is full: a body of 3 MiB can have a million
   * items with errors.
   */
  async collect(validate: () => void | Promise<void>): Promise<void> {
    this.#shared.endsWhenFull = true;
    try {
      await validate();
    } catch (error) {
      if (!(error instanceof FullListError)) throw error;
    } finally {
      this.#shared.endsWhenFull = false;
    }
  }

  /** @throws FullListError within `collect` */
  #isFull(): boolean {
    if (this.full && this.#shared.endsWhenFull) throw new FullListError();
    return this.full;
  }

  /** Removes the errors for which `keep` returns false. */
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
