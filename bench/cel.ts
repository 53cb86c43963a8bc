/**
 * `npm run bench -- --cel`: compares CEL with other implementations on npm: `@marcbachmann/cel-js`,
 * which does not count costs, and `@bufbuild/cel`. Prints the median microseconds of one
 * evaluation, ours with cost counting and a limit; then the time of parsing and checking a rule.
 */
import { celEnv, parse as parseBufbuild, plan as planBufbuild } from "@bufbuild/cel";
import { Environment as MarcbachmannEnvironment } from "@marcbachmann/cel-js";
import {
  dynType,
  intType,
  jsonValue,
  kubernetesEnvironment,
  listType,
  mapType,
  stringType,
} from "../src/lib/cel/index.ts";

const self = {
  replicas: 2n,
  maxReplicas: 3n,
  name: "web-frontend",
  image: "registry.example.com/team/web:1.2.3",
  labels: { app: "web", tier: "frontend" },
  numbers: Array.from({ length: 100 }, (_, at) => BigInt(at)),
  items: Array.from({ length: 100 }, (_, at) => ({ name: `item-${at}`, port: BigInt(1000 + at) })),
  strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1n } },
};

/**
 * The goal is microseconds per evaluation; undefined for comparisons with other implementations
 * only.
 */
const rows: readonly [expr: string, goalUs?: number][] = [
  ["self.replicas <= self.maxReplicas", 1],
  ["self.numbers.all(x, x < 1000)", 30],
  ["self.items.all(i, i.port >= 1000 && i.name.startsWith('item'))"],
  ["self.items.exists(i, i.name == 'item-50')"],
  ["self.items.filter(i, i.port > 1050).map(i, i.name).size() == 49"],
  ["self.numbers.map(x, x * 2).exists_one(x, x == 100)"],
  ["has(self.strategy) && self.strategy.type == 'RollingUpdate' ? has(self.strategy.rollingUpdate) : true"],
  ["'app' in self.labels && self.labels['app'] == 'web'"],
  ["self.name.matches('^[a-z][a-z0-9-]*$') && self.image.contains(':') && self.name.size() < 63"],
  ["self.strategy.type in ['Recreate', 'RollingUpdate'] && self.replicas + 1 > 0"],
];

const turns = 15;
const turnMs = 8;

/**
 * Returns the microseconds per call of each function: the median of turns in which all were called.
 */
function timed(calls: readonly (() => unknown)[]): number[] {
  const took: number[][] = calls.map(() => []);
  const counts = calls.map((call) => {
    for (let at = 0; at < 2000; at++) call();
    let count = 1;
    for (; timeMs(call, count) < turnMs / 2; count *= 2);
    return count;
  });
  for (let turn = 0; turn < turns; turn++) {
    for (const [at, call] of calls.entries())
      took[at]?.push((timeMs(call, counts[at] as number) * 1000) / (counts[at] as number));
  }
  return took.map((each) => each.sort((left, right) => left - right)[each.length >> 1] as number);
}

function timeMs(call: () => unknown, count: number): number {
  const from = performance.now();
  for (let at = 0; at < count; at++) call();
  return performance.now() - from;
}

const names = ["self"];
const ours = kubernetesEnvironment([1, 36]).extend({ variables: names.map((name) => ({ name, type: dynType })) });
const bufbuild = celEnv();
const marcbachmann = new MarcbachmannEnvironment({ unlistedVariablesAreDyn: true });
/** As decoded from JSON; the other implementations need bigints for ints. */
const decoded = JSON.parse(JSON.stringify(self, (_, value) => (typeof value === "bigint" ? Number(value) : value)));
const activation = new Map([["self", jsonValue(decoded)]]);

function print(what: string, columns: readonly string[]): void {
  console.log(`${what.padEnd(104)}${columns.map((column) => column.padStart(14)).join("")}`);
}

/** Evaluation of all rows. */
export function celBench(): void {
  print("evaluation, µs", ["coxswain", "cel-js", "bufbuild", "goal"]);
  for (const [expr, goalUs] of rows) {
    const program = ours.plan(ours.compile(expr));
    const other = marcbachmann.parse(expr);
    const another = planBufbuild(bufbuild, parseBufbuild(expr));
    const context = { self };
    const results = [program.evaluate(activation).value, other(context), another(context as never)];
    if (results.some((result) => result !== true)) throw new Error(`${expr}: ${results.join(", ")}`);
    const [own, first, second] = timed([
      () => program.evaluate(activation, { costLimit: 1_000_000 }),
      () => other(context),
      () => another(context as never),
    ]) as [number, number, number];
    const goal = goalUs === undefined ? "" : `< ${goalUs}`;
    print(expr, [
      own.toFixed(3),
      `${first.toFixed(3)} ${ratio(first, own)}`,
      `${second.toFixed(3)} ${ratio(second, own)}`,
      goal,
    ]);
  }
  compiling();
}

function ratio(other: number, own: number): string {
  return `${(other / own).toFixed(1)}×`;
}

function compiling(): void {
  const typed = kubernetesEnvironment([1, 36]).extend({
    variables: [
      { name: "self", type: mapType(stringType, dynType) },
      { name: "names", type: listType(stringType) },
      { name: "count", type: intType },
    ],
  });
  const expressions = [
    "self.replicas <= self.maxReplicas",
    "self.items.all(i, i.port >= 1000 && i.name.startsWith('item'))",
    "!has(self.a) || (self.a.size() <= count && names.all(n, n.matches('^[a-z]+$') && !(n in ['x', 'y'])))",
  ];
  console.log();
  print("parsing, checking and planning, µs", ["coxswain", "cel-js", "bufbuild", "goal"]);
  for (const expr of expressions) {
    const [own, first, second] = timed([
      () => typed.plan(typed.compile(expr)),
      () => marcbachmann.parse(expr).check(),
      () => planBufbuild(bufbuild, parseBufbuild(expr)),
    ]) as [number, number, number];
    print(expr, [own.toFixed(1), first.toFixed(1), second.toFixed(1), "< 300"]);
  }
}
