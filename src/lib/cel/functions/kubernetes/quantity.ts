/** Quantities such as `1.5Gi`. Source: k8s.io/apiserver@v0.36.0/pkg/cel/library/quantity.go */
import {
  addQuantities,
  asApproximateFloat,
  asInteger,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type Quantity,
  QuantityError,
  subtractQuantities,
} from "../../../quantity/quantity.ts";
import type { FunctionDeclaration } from "../../declarations.ts";
import { library } from "../../library.ts";
import { boolType, type CelType, doubleType, intType, opaqueType, stringType } from "../../types.ts";
import { CelFailure, fail, noSuchOverload } from "../../values/failure.ts";
import { CelDouble, type CelInt, CelOpaque, type CelValue, type Equality, type Result } from "../../values/value.ts";
import { declare, member, overload } from "../declare.ts";
import { nominal, reading } from "./costs.ts";

/** The type of `quantity("1Gi")`. */
export const quantityType = opaqueType("kubernetes.Quantity");

/** A quantity. */
export class CelQuantity extends CelOpaque {
  readonly quantity: Quantity;
  constructor(quantity: Quantity) {
    super();
    this.quantity = quantity;
  }
  get type(): CelType {
    return quantityType;
  }
  equals(other: CelValue): Equality {
    return other instanceof CelQuantity ? compareQuantities(this.quantity, other.quantity) === 0 : noSuchOverload();
  }
  toString(): string {
    return formatQuantity(this.quantity);
  }
}

function parse(text: string): CelQuantity | CelFailure {
  try {
    return new CelQuantity(parseQuantity(text));
  } catch (error) {
    if (error instanceof QuantityError) return fail(error.message);
    throw error;
  }
}

function whole(value: CelInt): Quantity {
  return { mantissa: BigInt(value), exponent: 0, format: "DecimalExponent" };
}

function compare(left: CelQuantity, right: CelQuantity): number {
  return compareQuantities(left.quantity, right.quantity);
}

function integer({ quantity }: CelQuantity): Result {
  return asInteger(quantity) ?? fail("cannot convert value to integer");
}

const [one, two] = [[quantityType], [quantityType, quantityType]];
const withInt = [quantityType, intType];

function sign({ quantity }: CelQuantity): number {
  return Number(quantity.mantissa > 0n) - Number(quantity.mantissa < 0n);
}

const operations: readonly FunctionDeclaration[] = [
  // Kubernetes documents `quantity("1").sign()`, but in 1.36 only `sign(quantity("1"))` compiles.
  // Both work here.
  declare(
    "sign",
    overload("quantity_sign", one, intType, { evaluate: sign }),
    member("quantity_sign_member", one, intType, { evaluate: sign }),
  ),
  declare(
    "isGreaterThan",
    member("quantity_is_greater_than", two, boolType, {
      evaluate: (a: CelQuantity, b: CelQuantity) => compare(a, b) > 0,
    }),
  ),
  declare(
    "isLessThan",
    member("quantity_is_less_than", two, boolType, { evaluate: (a: CelQuantity, b: CelQuantity) => compare(a, b) < 0 }),
  ),
  declare("compareTo", member("quantity_compare_to", two, intType, { evaluate: compare })),
  declare(
    "asApproximateFloat",
    member("quantity_get_float", one, doubleType, {
      evaluate: ({ quantity }: CelQuantity) => new CelDouble(asApproximateFloat(quantity)),
    }),
  ),
  declare("asInteger", member("quantity_get_int", one, intType, { evaluate: integer })),
  declare(
    "isInteger",
    member("quantity_is_integer", one, boolType, {
      evaluate: ({ quantity }: CelQuantity) => asInteger(quantity) !== undefined,
    }),
  ),
  declare(
    "add",
    member("quantity_add", two, quantityType, {
      evaluate: (a: CelQuantity, b: CelQuantity) => new CelQuantity(addQuantities(a.quantity, b.quantity)),
    }),
    member("quantity_add_int", withInt, quantityType, {
      evaluate: (a: CelQuantity, b: CelInt) => new CelQuantity(addQuantities(a.quantity, whole(b))),
    }),
  ),
  declare(
    "sub",
    member("quantity_sub", two, quantityType, {
      evaluate: (a: CelQuantity, b: CelQuantity) => new CelQuantity(subtractQuantities(a.quantity, b.quantity)),
    }),
    member("quantity_sub_int", withInt, quantityType, {
      evaluate: (a: CelQuantity, b: CelInt) => new CelQuantity(subtractQuantities(a.quantity, whole(b))),
    }),
  ),
];

const parsing: readonly FunctionDeclaration[] = [
  declare("quantity", overload("string_to_quantity", [stringType], quantityType, { evaluate: parse })),
  declare(
    "isQuantity",
    overload("is_quantity_string", [stringType], boolType, {
      evaluate: (text: string) => !(parse(text) instanceof CelFailure),
    }),
  ),
];

/** `quantity`, `isQuantity` and functions of quantities. */
export const kubernetesQuantity = library({
  functions: [
    ...operations.map((declared) => ({ ...declared, ...nominal })),
    ...parsing.map((declared) => ({ ...declared, ...reading(1, { keepsSize: false }) })),
  ],
});
