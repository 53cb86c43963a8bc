/**
 * Compares the errors of declarative and hand-written validation. Source:
 * `gatherDeclarativeValidationMismatches` of
 * k8s.io/apiserver@v0.36.0/pkg/registry/rest/validate.go. Differences that follow from the order of
 * the checks, or from what either validation allows because the old object had it, are no mismatch
 * here; upstream counts them.
 */
import type { StatusCause } from "../apimachinery/errors.ts";
import type { FieldErrors } from "../apimachinery/field-errors.ts";
import type { DeclarativeValidation } from "../catalog/strategy-contract.ts";
import type { ValidationMismatch } from "./contract.ts";

export interface Comparison {
  readonly mismatches: readonly ValidationMismatch[];
  /** Hand-written errors that a rule covers, with the declarative ones that match. */
  readonly covered: ReadonlyMap<StatusCause, readonly StatusCause[]>;
}

interface Compared {
  readonly handWritten: FieldErrors;
  readonly declared: FieldErrors;
  readonly config: DeclarativeValidation;
  /**
   * Errors of the rules for the old object, computed only where something differs; undefined on
   * create.
   */
  declaredOfOld(): FieldErrors | undefined;
}

interface Placed {
  readonly cause: StatusCause;
  /** The path in the storage version. */
  readonly field: string;
  readonly origin: string;
}

/**
 * Errors are the same when type, field and origin are; one error may match several of the other
 * validation.
 */
export function compareValidations({ handWritten, declared, config, declaredOfOld }: Compared): Comparison {
  const hand = coveredErrors(handWritten, config);
  const rules = declaredErrors(declared, config);
  const byKey = Map.groupBy(rules, keyOf);
  const covered = new Map(hand.map((one) => [one.cause, (byKey.get(keyOf(one)) ?? []).map(({ cause }) => cause)]));
  if (handWritten.full || declared.full) return { mismatches: [], covered }; // Omitted errors may be the counterpart.
  const byHandKey = Map.groupBy(hand, keyOf);
  const unmatched = [...byHandKey].filter(([key]) => !byKey.has(key)).map(([, list]) => list[0] as Placed);
  const extra = rules.filter((one) => !byHandKey.has(keyOf(one)));
  const lone = [
    ...unmatched.filter((one) => !rules.some((rule) => isStop(rule) && isWithin(one.field, rule.field))),
    ...extra.filter(
      (one) =>
        !handWritten.causes.some(
          (cause) => endsBefore(cause, one, config) || (!covered.has(cause) && isSameSubject(cause, one)),
        ),
    ),
  ];
  if (lone.length === 0) return { mismatches: [], covered };
  const before = declaredErrors(declaredOfOld(), config);
  const [handMessages, ruleMessages] = [messagesByField(handWritten.causes.map(placed)), messagesByField(rules)];
  const mismatches = lone
    .filter((one) => !before.some((old) => isSameProblem(old, one)))
    .map(({ cause, field, origin }) => ({
      ...{ field, origin, reason: cause.reason ?? "" },
      handWritten: handMessages.get(field) ?? [],
      declarative: ruleMessages.get(field) ?? [],
    }));
  return { mismatches, covered };
}

const keyOf = ({ cause: { reason = "" }, field, origin }: Placed): string => `${reason}\n${origin}\n${field}`;
const placed = (cause: StatusCause): Placed => ({ cause, field: cause.field ?? "", origin: "" });

function messagesByField(list: readonly Placed[]): Map<string, string[]> {
  const byField = Map.groupBy(list, ({ field }) => field);
  return new Map([...byField].map(([field, ones]) => [field, ones.map(({ cause: { message = "" } }) => message)]));
}

const stoppingReasons: ReadonlySet<string> = new Set([
  "FieldValueRequired",
  "FieldValueForbidden",
  "FieldValueTooMany",
]);
const stoppingOrigins: ReadonlySet<string> = new Set(["immutable", "update"]);

/**
 * Whether the rule ends the validation of the field and its contents, which hand-written validation
 * may continue.
 */
const isStop = ({ cause: { reason = "" }, origin }: Placed): boolean =>
  stoppingReasons.has(reason) || stoppingOrigins.has(origin);

/** Whether a field is `holder` or inside it. */
function isWithin(field: string, holder: string): boolean {
  if (!field.startsWith(holder)) return false;
  const next = field.charAt(holder.length);
  return next === "" || next === "." || next === "[";
}

/** Whether an error that no rule covers describes the same problem as a rule's error. */
const isSameSubject = ({ field = "" }: StatusCause, found: Placed): boolean => isWithin(field, found.field);

/**
 * Whether a hand-written error ended the validation before the check that a rule made: a list that
 * is too long, a field that must be unset, an item that is invalid as a whole, a struct whose
 * discriminator is unknown.
 */
function endsBefore(
  { reason = "", field = "" }: StatusCause,
  found: Placed,
  { discriminators = [] }: DeclarativeValidation,
): boolean {
  if (found.field !== field && (stoppingReasons.has(reason) || field.endsWith("]")))
    return isWithin(found.field, field);
  return (
    reason === "FieldValueNotSupported" &&
    discriminators.includes(field) &&
    isWithin(found.field, field.slice(0, field.lastIndexOf(".")))
  );
}

/**
 * The old object has the same error: both validations ratchet it in their own ways. Items of a list
 * may have moved.
 */
const isSameProblem = (old: Placed, one: Placed): boolean =>
  old.cause.reason === one.cause.reason &&
  old.origin === one.origin &&
  (old.field === one.field || old.cause.message === one.cause.message);

function coveredErrors({ causes, marks }: FieldErrors, { nameOrigin }: DeclarativeValidation): Placed[] {
  return causes.flatMap((cause) => {
    const { field = "", reason } = cause;
    const isName = field === "metadata.name" && reason === "FieldValueInvalid";
    const origin = marks.get(cause)?.origin ?? (isName ? nameOrigin : undefined);
    return origin === undefined ? [] : [{ cause, field, origin }];
  });
}

function declaredErrors(errors: FieldErrors | undefined, { normalizations = [] }: DeclarativeValidation): Placed[] {
  return (errors?.causes ?? []).map((cause) => {
    const { field = "" } = cause;
    return { cause, field: normalized(field, normalizations), origin: errors?.marks.get(cause)?.origin ?? "" };
  });
}

/** Only the first rule that matches is applied. */
function normalized(field: string, rules: NonNullable<DeclarativeValidation["normalizations"]>): string {
  for (const [pattern, replacement] of rules) {
    if (!pattern.test(field)) continue;
    return typeof replacement === "string" ? field.replace(pattern, replacement) : field.replace(pattern, replacement);
  }
  return field;
}
