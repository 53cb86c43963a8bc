/**
 * Evaluates CEL expressions for external test suites: reads JSON lines `{"id","expr","bindings":{name: value},"disableCheck"?}` from
 * standard input, with values in the form of `src/lib/cel/tagged.ts`, and answers each with a line `{"id","value"}` or `{"id","error"}`, both with
 * `"cost":{"min","max","actual"}` as far as known. Variables are declared dyn; the environment is the one for new expressions.
 */
import { createInterface } from "node:readline";
import {
  CelError,
  CelSyntaxError,
  type CelValue,
  type CheckedAst,
  dynType,
  type Environment,
  kubernetesEnvironment,
  type Tagged,
  taggedOf,
  untagged,
} from "../src/lib/cel/index.ts";

interface Given {
  readonly id: unknown;
  readonly expr: string;
  readonly bindings?: Readonly<Record<string, Tagged>>;
  readonly disableCheck?: boolean;
}

interface Answer {
  readonly id: unknown;
  readonly value?: Tagged;
  readonly error?: string;
  readonly cost?: { readonly min?: bigint; readonly max?: bigint; readonly actual?: number };
}

/** Cost limit of one evaluation. Source: PerCallLimit in k8s.io/apiserver@v0.36.0/pkg/apis/cel/config.go */
const costLimit = 1_000_000;
const base = kubernetesEnvironment([1, 36]);

for await (const line of createInterface({ input: process.stdin })) {
  if (line.trim() !== "") process.stdout.write(`${format(answerTo(line))}\n`);
}

function answerTo(line: string): Answer {
  let id: unknown = null;
  try {
    const given = JSON.parse(line) as Given;
    id = given.id ?? null;
    return answer(given);
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError || error instanceof CelSyntaxError)
      return { id, error: error.message };
    throw error;
  }
}

/** @throws RangeError for bindings that are not tagged values; CelSyntaxError */
function answer({ id, expr, bindings = {}, disableCheck = false }: Given): Answer {
  const activation = new Map<string, CelValue>(
    Object.entries(bindings).map(([name, value]) => [name, untagged(value)]),
  );
  const environment = base.extend({ variables: [...activation.keys()].map((name) => ({ name, type: dynType })) });
  const ast = environment.parse(expr);
  const checked = disableCheck ? environment.unchecked(ast) : environment.check(ast);
  const estimated = estimate(environment, checked, disableCheck);
  const program = environment.plan(checked);
  try {
    const { value, cost } = program.evaluate(activation, { costLimit });
    return { id, value: taggedOf(value), cost: { ...estimated, actual: cost } };
  } catch (error) {
    if (error instanceof CelError) return { id, error: error.message, cost: { ...estimated, actual: error.cost } };
    throw error;
  }
}

/** Without the checker the overload of a call is unknown, and upstream estimates no cost for it. */
function estimate(environment: Environment, checked: CheckedAst, disableCheck: boolean): { min: bigint; max: bigint } {
  return environment.estimateCost(disableCheck ? { ...checked, references: new Map() } : checked);
}

/** Writes costs as uint64. */
function format({ cost, ...rest }: Answer): string {
  const text = JSON.stringify(rest);
  if (cost === undefined) return text;
  const parts = Object.entries(cost).map(([name, units]) => `"${name}":${units}`);
  return `${text.slice(0, -1)},"cost":{${parts.join(",")}}}`;
}
