/** Assignability of types, with inference of type parameters. Source: cel-go, checker/types.go */
import { type CelType, dynType, isDyn, isDynOrError, sameType } from "./types.ts";

/** The types inferred for type parameters so far, by name. */
export type Substitutions = Map<string, CelType>;

/**
 * Replaces type parameters by their inferred types.
 *
 * @param freeToDyn parameters without an inferred type become dyn
 */
export function substitute(substitutions: Substitutions, type: CelType, freeToDyn: boolean): CelType {
  const found = type.kind === "parameter" ? substitutions.get(type.name) : undefined;
  if (found !== undefined) return substitute(substitutions, found, freeToDyn);
  if (type.kind === "parameter") return freeToDyn ? dynType : type;
  if (type.parameters.length === 0) return type;
  const parameters = type.parameters.map((parameter) => substitute(substitutions, parameter, freeToDyn));
  return { kind: type.kind, name: type.name, parameters };
}

/** Whether all types are assignable; if so, adds the inferred types to `substitutions`. */
export function areAssignable(
  substitutions: Substitutions,
  found: readonly CelType[],
  expected: readonly CelType[],
): boolean {
  if (found.length !== expected.length) return false;
  const learned = new Map(substitutions);
  if (!found.every((type, index) => fits(learned, type, expected[index] as CelType))) return false;
  for (const [name, type] of learned) substitutions.set(name, type);
  return true;
}

/** Whether a type is assignable; if so, adds the inferred types to `substitutions`. */
export function isAssignable(substitutions: Substitutions, found: CelType, expected: CelType): boolean {
  return areAssignable(substitutions, [found], [expected]);
}

function fits(substitutions: Substitutions, left: CelType, right: CelType): boolean {
  if (right.kind === "parameter") {
    const { valid, bound } = bind(substitutions, left, right);
    if (valid) return true;
    if (bound) return false;
  }
  if (left.kind === "parameter") return bind(substitutions, right, left).valid;
  if (isDynOrError(left) || isDynOrError(right)) return true;
  if (left.kind === "null") return isNullable(right);
  if (right.kind === "null") return isNullable(left);
  const [one, other] = [unwrapped(left), unwrapped(right)];
  if (one.kind === "type") return other.kind === "type";
  if (one.kind !== other.kind || one.name !== other.name || one.parameters.length !== other.parameters.length)
    return false;
  return one.parameters.every((parameter, index) => fits(substitutions, parameter, other.parameters[index] as CelType));
}

function unwrapped(type: CelType): CelType {
  return type.kind === "wrapper" ? (type.parameters[0] as CelType) : type;
}

function isNullable(type: CelType): boolean {
  return ["any", "duration", "null", "object", "opaque", "timestamp", "wrapper"].includes(type.kind);
}

/** Infers the type of a parameter. `bound`: it already had an inferred type. */
function bind(substitutions: Substitutions, type: CelType, parameter: CelType): { valid: boolean; bound: boolean } {
  if (sameType(type, parameter)) return { valid: true, bound: true };
  const before = substitutions.get(parameter.name);
  if (before === undefined) {
    const valid = !occursIn(substitutions, parameter, type);
    if (valid) substitutions.set(parameter.name, type);
    return { valid, bound: false };
  }
  if (sameType(type, before)) return { valid: true, bound: true };
  if (!fits(substitutions, type, before)) return { valid: false, bound: true };
  const general = mostGeneral(type, before);
  if (!occursIn(substitutions, parameter, general)) substitutions.set(parameter.name, general);
  return { valid: true, bound: true };
}

function occursIn(substitutions: Substitutions, parameter: CelType, type: CelType): boolean {
  if (sameType(parameter, type)) return true;
  const found = type.kind === "parameter" ? substitutions.get(type.name) : undefined;
  if (found !== undefined) return occursIn(substitutions, parameter, found);
  return type.parameters.some((within) => occursIn(substitutions, parameter, within));
}

/** Returns the more general of two types that are assignable to each other. */
export function mostGeneral(left: CelType, right: CelType): CelType {
  return isEqualOrLessSpecific(left, right) ? left : right;
}

function isEqualOrLessSpecific(left: CelType, right: CelType): boolean {
  if (isDyn(left) || left.kind === "parameter") return true;
  if (isDyn(right) || right.kind === "parameter") return false;
  if (left.kind === "wrapper" && (right.kind === "null" || sameType(unwrapped(left), unwrapped(right)))) return true;
  if (left.kind !== right.kind || left.name !== right.name || left.parameters.length !== right.parameters.length)
    return false;
  return (
    left.kind === "type" ||
    left.parameters.every((parameter, index) => isEqualOrLessSpecific(parameter, right.parameters[index] as CelType))
  );
}
