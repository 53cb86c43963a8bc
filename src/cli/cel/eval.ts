/** `coxswain cel eval`: evaluates one expression on data from files. */
import { newExpressions, perCallLimit } from "../../cel-environment/index.ts";
import {
  CelError,
  CelSyntaxError,
  type CelValue,
  dynType,
  type Environment,
  formatType,
  type JsonValue,
  jsonValue,
  type Range,
  type SizeHints,
} from "../../lib/cel/index.ts";
import { declTypeOfSchema, sizeHintsOf, typeRegistry, wrapOf } from "../../lib/cel/schema-types/index.ts";
import type { Output } from "../output.ts";
import type { OutputFormat } from "../subcommands.ts";
import { exitInvalid } from "./contract.ts";
import { InputError, readDocument } from "./documents.ts";
import { formatValue, jsonOf } from "./format-value.ts";
import { schemaAt } from "./schema-at.ts";

export interface EvalOptions {
  readonly expr: string;
  readonly data?: string;
  readonly oldData?: string;
  readonly schema?: string;
  readonly output: OutputFormat;
  readonly json?: true;
}

interface Outcome {
  readonly value?: CelValue;
  readonly type?: string;
  readonly actualCost?: number;
  readonly estimatedCost?: Range;
  /** With the position and a caret. */
  readonly error?: string;
}

/** Evaluates an expression and prints the outcome. @returns the exit code @throws InputError */
export function evaluateExpression(options: EvalOptions, output: Output): number {
  const outcome = evaluate(options);
  if (options.json === true || options.output === "json") {
    output.out(`${formatJson(outcome)}\n`);
  } else {
    output.out(formatText(outcome));
    if (outcome.error !== undefined) output.err(`${outcome.error}\n`);
  }
  return outcome.error === undefined ? 0 : exitInvalid;
}

/** What an expression is compiled and evaluated with. */
interface Setup {
  readonly environment: Environment;
  readonly bindings: ReadonlyMap<string, CelValue>;
  readonly sizes: SizeHints | undefined;
}

function setupOf(options: EvalOptions): Setup {
  const data = options.data === undefined ? null : readDocument(options.data);
  const oldData = options.oldData === undefined ? null : readDocument(options.oldData);
  if (options.schema === undefined)
    return untypedSetup(
      ["self", "object"],
      ["oldSelf", "oldObject"],
      jsonValue(data as JsonValue),
      jsonValue(oldData as JsonValue),
    );
  const { schema, isResourceRoot } = schemaAt(options.schema);
  const declared = declTypeOfSchema(schema, isResourceRoot);
  if (declared === undefined) throw new InputError(`${options.schema}: expressions cannot see data of this schema`);
  const types = typeRegistry();
  const type = types.typeOf(declared, "selfType");
  const wrap = wrapOf(schema, isResourceRoot);
  const environment = newExpressions().extend({
    types,
    variables: [
      { name: "self", type },
      { name: "oldSelf", type },
    ],
  });
  return {
    environment,
    bindings: new Map([
      ["self", wrap(data)],
      ["oldSelf", wrap(oldData)],
    ]),
    sizes: sizeHintsOf(declared),
  };
}

function untypedSetup(names: readonly string[], oldNames: readonly string[], data: CelValue, oldData: CelValue): Setup {
  const bindings = new Map([
    ...names.map((name) => [name, data] as const),
    ...oldNames.map((name) => [name, oldData] as const),
  ]);
  const variables = [...names, ...oldNames].map((name) => ({ name, type: dynType }));
  return { environment: newExpressions().extend({ variables }), bindings, sizes: undefined };
}

function evaluate(options: EvalOptions): Outcome {
  const { environment, bindings, sizes } = setupOf(options);
  let outcome: Outcome = {};
  try {
    const checked = environment.compile(options.expr);
    outcome = { type: formatType(checked.type), estimatedCost: environment.estimateCost(checked, sizes) };
    const program = environment.plan(checked, { locateFailures: true });
    try {
      const { value, cost } = program.evaluate(bindings, { costLimit: perCallLimit });
      return { ...outcome, value, actualCost: cost };
    } catch (error) {
      if (!(error instanceof CelError)) throw error;
      return {
        ...outcome,
        actualCost: error.cost,
        error: checked.source.describe([{ offset: error.offset ?? -1, message: error.message }]),
      };
    }
  } catch (error) {
    if (error instanceof CelSyntaxError) return { ...outcome, error: error.source.describe(error.issues) };
    throw error;
  }
}

function formatText({ value, type, actualCost, estimatedCost }: Outcome): string {
  const lines: string[] = [];
  if (value !== undefined) lines.push(`value:          ${formatValue(value)}`);
  if (type !== undefined) lines.push(`type:           ${type}`);
  if (actualCost !== undefined) lines.push(`actual cost:    ${actualCost}`);
  if (estimatedCost !== undefined) lines.push(`estimated cost: ${estimatedCost.min} to ${estimatedCost.max}`);
  return lines.map((line) => `${line}\n`).join("");
}

/**
 * `{"value", "type", "cost": {"actual", "estimated": {"min", "max"}}, "error"}`, without members
 * that have no value.
 */
function formatJson({ value, type, actualCost, estimatedCost, error }: Outcome): string {
  const cost = [
    ...(actualCost === undefined ? [] : [`"actual":${actualCost}`]),
    ...(estimatedCost === undefined ? [] : [`"estimated":{"min":${estimatedCost.min},"max":${estimatedCost.max}}`]),
  ];
  const members = [
    ...(value === undefined ? [] : [`"value":${jsonOf(value)}`]),
    ...(type === undefined ? [] : [`"type":${JSON.stringify(type)}`]),
    ...(cost.length === 0 ? [] : [`"cost":{${cost.join(",")}}`]),
    ...(error === undefined ? [] : [`"error":${JSON.stringify(error)}`]),
  ];
  return `{${members.join(",")}}`;
}
