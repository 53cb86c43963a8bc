/**
 * Parses shard selectors, which are CEL expressions that are never evaluated. The rules and messages
 * are those of k8s.io/apiserver@v0.36.0/pkg/sharding/parser.go. Load this on demand: it needs the
 * parser of CEL.
 */
import type { Call, Constant, Expr } from "../cel/ast.ts";
import { CelSyntaxError } from "../cel/errors.ts";
import { parse } from "../cel/parser.ts";
import { isInt } from "../cel/values/int.ts";
import { CelDouble, CelUint, type CelValue } from "../cel/values/value.ts";
import { quoteGo } from "../json/quote.ts";
import { trimGo } from "../json/trim-go.ts";
import { SelectorError } from "./selector-error.ts";
import { joinRanges, type ShardField, type ShardSelector } from "./shard.ts";

/** One call of `shardRange`, with the bounds as written. */
interface Requirement {
  readonly field: ShardField;
  readonly start: string;
  readonly end: string;
}

/**
 * @param text calls of `shardRange(field, start, end)` that `||` connects
 * @throws SelectorError with upstream's message
 */
export function parseShardSelector(text: string): ShardSelector {
  const expression = trimGo(text);
  if (expression === "")
    throw new SelectorError("empty shard selector is not allowed; omit the parameter for unfiltered lists");
  const requirements = requirementsOf(parseExpression(expression));
  const [{ field }] = requirements as [Requirement];
  const other = requirements.find((one) => one.field !== field)?.field;
  if (other !== undefined)
    throw new SelectorError(`all shard ranges must use the same field, got ${quoteGo(field)} and ${quoteGo(other)}`);
  return {
    field,
    ranges: joinRanges(requirements.map(({ start, end }) => ({ start: BigInt(start), end: BigInt(end) }))),
    text: requirements.map(({ start, end }) => `shardRange(${field}, '${start}', '${end}')`).join(" || "),
  };
}

function parseExpression(text: string): Expr {
  try {
    return parse(text, { macros: new Map(), optionalSyntax: false }).root;
  } catch (error) {
    if (error instanceof CelSyntaxError) throw new SelectorError(`CEL parse error: ${error.issues[0]?.message}`);
    throw error;
  }
}

/** The parser limits the depth of the expression. */
function requirementsOf(expr: Expr): Requirement[] {
  if (expr.kind !== "call")
    throw new SelectorError(
      `unexpected expression kind ${kindNumbers[expr.kind]}; expected shardRange() call or || operator`,
    );
  if (expr.name === "_||_") return expr.args.flatMap(requirementsOf);
  if (expr.name === "shardRange") return [requirementOf(expr)];
  throw new SelectorError(`unsupported function ${quoteGo(expr.name)}; only shardRange() and || are allowed`);
}

/** The kinds of expressions as cel-go numbers them. Source: cel-go, common/ast/expr.go */
const kindNumbers: Readonly<Record<Expr["kind"], number>> = {
  call: 1,
  comprehension: 2,
  identifier: 3,
  list: 4,
  constant: 5,
  map: 6,
  select: 7,
  struct: 8,
};

function requirementOf({ args }: Call): Requirement {
  if (args.length !== 3) throw new SelectorError(`shardRange() requires exactly 3 arguments, got ${args.length}`);
  const [path, from, to] = args as readonly [Expr, Expr, Expr];
  const field = fieldOf(path);
  const start = boundOf(from, "hexStart");
  const end = boundOf(to, "hexEnd");
  if (BigInt(start) >= BigInt(end)) throw new SelectorError(`shard range start ${start} must be less than end ${end}`);
  return { field, start, end };
}

function fieldOf(expr: Expr): ShardField {
  const path = pathOf(expr);
  if (path === "object.metadata.uid" || path === "object.metadata.namespace") return path;
  throw new SelectorError(
    `unsupported field path ${quoteGo(path)}; supported: object.metadata.uid, object.metadata.namespace`,
  );
}

function pathOf(expr: Expr): string {
  if (expr.kind === "identifier") return expr.name;
  if (expr.kind === "select") return `${pathOf(expr.operand)}.${expr.field}`;
  throw new SelectorError(
    `shardRange() first argument: expected field path (e.g. object.metadata.uid), got expression kind ${kindNumbers[expr.kind]}`,
  );
}

/** The only bound that has 17 digits: one more than the largest hash. */
const lastEnd = "0x10000000000000000";

/** @param name of the argument, for messages */
function boundOf(expr: Expr, name: string): string {
  const text = textOf(expr, name);
  if (!text.startsWith("0x")) throw new SelectorError(`${name} must have '0x' prefix, got ${quoteGo(text)}`);
  const digits = text.slice(2);
  if (digits === "") throw new SelectorError(`${name}: hex value is required after '0x'`);
  const length = Buffer.byteLength(digits);
  if (length > 17) throw new SelectorError(`${name}: hex value too long (${length} chars, max 17): ${quoteGo(digits)}`);
  const wrong = /[^0-9a-f]/u.exec(digits)?.[0];
  if (wrong !== undefined)
    throw new SelectorError(`${name}: invalid hex character ${quoteGo(wrong)} in ${quoteGo(text)}`);
  if (length === 16 || text === lastEnd) return text;
  if (length === 17)
    throw new SelectorError(`${name}: 17-digit hex value must be '${lastEnd}' (2^64), got ${quoteGo(text)}`);
  const padded = quoteGo(`0x${digits.padStart(16, "0")}`);
  throw new SelectorError(
    `${name} must be a 0x-prefixed 16-digit hex value, got ${quoteGo(text)} (did you mean ${padded}?)`,
  );
}

function textOf(expr: Expr, name: string): string {
  if (expr.kind !== "constant")
    throw new SelectorError(
      `${name} must be a string literal (e.g. '0xff'), got expression kind ${kindNumbers[expr.kind]}`,
    );
  if (typeof expr.value === "string") return expr.value;
  throw new SelectorError(`${name} must be a string literal, got ${goTypeOf(expr)}`);
}

/** The Go type of a literal. */
function goTypeOf({ value }: Constant): string {
  if (isInt(value)) return "int64";
  return goTypes.find(([isType]) => isType(value))?.[1] as string;
}

const goTypes: readonly [isType: (value: CelValue) => boolean, name: string][] = [
  [(value) => value === null, "structpb.NullValue"],
  [(value) => typeof value === "boolean", "bool"],
  [(value) => value instanceof CelUint, "uint64"],
  [(value) => value instanceof CelDouble, "float64"],
  [(value) => value instanceof Uint8Array, "[]uint8"],
];
