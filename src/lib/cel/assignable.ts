/** Which types fit where, while type parameters are being found out. Source: cel-go's checker/types.go */
import { type CelType, dynType, isDyn, sameType } from "./types.ts";

/** What type parameters stand for, so far. */
export type Substitutions = Map<string, CelType>;

/** @param freeToDyn parameters that nothing is known of become dyn */
export function substitute(known: Substitutions, type: CelType, freeToDyn: boolean): CelType {
  const found = type.kind === "parameter" ? known.get(type.name) : undefined;
  if (found !== undefined) return substitute(known, found, freeToDyn);
  if (type.kind === "parameter") return freeToDyn ? dynType : type;
  if (type.parameters.length === 0) return type;
  const parameters = type.parameters.map((parameter) => substitute(known, parameter, freeToDyn));
  return { kind: type.kind, name: type.name, parameters };
}

/** Whether all of `given` fit `wanted`; then `known` has what was learned from it, otherwise it is as it was. */
export function areAssignable(known: Substitutions, given: readonly CelType[], wanted: readonly CelType[]): boolean {
  if (given.length !== wanted.length) return false;
  const learned = new Map(known);
  if (!given.every((type, index) => fits(learned, type, wanted[index] as CelType))) return false;
  for (const [name, type] of learned) known.set(name, type);
  return true;
}

export function isAssignable(known: Substitutions, given: CelType, wanted: CelType): boolean {
  return areAssignable(known, [given], [wanted]);
}

function fits(known: Substitutions, left: CelType, right: CelType): boolean {
  if (right.kind === "parameter") {
    const { valid, bound } = bind(known, left, right);
    if (valid) return true;
    if (bound) return false;
  }
  if (left.kind === "parameter") return bind(known, right, left).valid;
  if (isDyn(left) || isDyn(right)) return true;
  if (left.kind === "null") return isNullable(right);
  if (right.kind === "null") return isNullable(left);
  const [one, other] = [unwrapped(left), unwrapped(right)];
  if (one.kind === "type") return other.kind === "type";
  if (one.kind !== other.kind || one.name !== other.name || one.parameters.length !== other.parameters.length)
    return false;
  return one.parameters.every((parameter, index) => fits(known, parameter, other.parameters[index] as CelType));
}

function unwrapped(type: CelType): CelType {
  return type.kind === "wrapper" ? (type.parameters[0] as CelType) : type;
}

function isNullable(type: CelType): boolean {
  return ["any", "duration", "null", "object", "opaque", "timestamp", "wrapper"].includes(type.kind);
}

/** Lets the parameter stand for the type, where it may. `bound`: it had stood for one before. */
function bind(known: Substitutions, type: CelType, parameter: CelType): { valid: boolean; bound: boolean } {
  if (sameType(type, parameter)) return { valid: true, bound: true };
  const before = known.get(parameter.name);
  if (before === undefined) {
    const valid = !occursIn(known, parameter, type);
    if (valid) known.set(parameter.name, type);
    return { valid, bound: false };
  }
  if (sameType(type, before)) return { valid: true, bound: true };
  if (!fits(known, type, before)) return { valid: false, bound: true };
  const general = mostGeneral(type, before);
  if (!occursIn(known, parameter, general)) known.set(parameter.name, general);
  return { valid: true, bound: true };
}

function occursIn(known: Substitutions, parameter: CelType, type: CelType): boolean {
  if (sameType(parameter, type)) return true;
  const found = type.kind === "parameter" ? known.get(type.name) : undefined;
  if (found !== undefined) return occursIn(known, parameter, found);
  return type.parameters.some((within) => occursIn(known, parameter, within));
}

/** Of two types that fit each other. */
export function mostGeneral(left: CelType, right: CelType): CelType {
  return isEqualOrLessSpecific(left, right) ? left : right;
}

function isEqualOrLessSpecific(left: CelType, right: CelType): boolean {
  if (isDyn(left) || left.kind === "parameter") return true;
  if (isDyn(right) || right.kind === "parameter") return false;
  if (left.kind === "wrapper" && (right.kind === "null" || sameType(unwrapped(left), unwrapped(right)))) return true;
  if (right.kind === "null") return true;
  if (left.kind !== right.kind || left.name !== right.name || left.parameters.length !== right.parameters.length)
    return false;
  return (
    left.kind === "type" ||
    left.parameters.every((parameter, index) => isEqualOrLessSpecific(parameter, right.parameters[index] as CelType))
  );
}
