/** Output and exit codes of `coxswain cel`. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { test } from "node:test";
import { type RanCommand, runCommand } from "../../../test/support/run-command.ts";
import { celCommand } from "./command.ts";

const testdata = join(import.meta.dirname, "testdata");
const source = join(import.meta.dirname, "../..");

async function run(...argv: string[]): Promise<RanCommand> {
  const { code, out, err } = await runCommand((output) => celCommand.run(argv, output, {}));
  return { code, out, err: err.replaceAll(`${testdata}/`, "") };
}

const data = ["--data", join(testdata, "widget.yaml")];
const spec = ["--schema", `${join(testdata, "crd.yaml")}#/spec`];
const port = [
  "--schema",
  `${join(testdata, "crd.yaml")}#/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/ports/items`,
];

const rows: [what: string, argv: string[], want: RanCommand][] = [
  [
    "dynamic data",
    ["eval", "--expr", "self.replicas <= object.maxReplicas", ...data],
    {
      code: 0,
      out: "value:          true\ntype:           bool\nactual cost:    5\nestimated cost: 3 to 1844674407370955266\n",
      err: "",
    },
  ],
  [
    "data typed by a path of properties",
    ["eval", "--expr", "self.name + '!'", ...data, ...spec],
    {
      code: 0,
      out: 'value:          "abc!"\ntype:           string\nactual cost:    3\nestimated cost: 3 to 11\n',
      err: "",
    },
  ],
  [
    "data typed by a pointer into the document",
    ["eval", "--expr", "type(self.port) == int && !has(self.name)", ...port],
    {
      code: 1,
      out: "",
      err: "ERROR: <input>:1:31: undefined field 'name'\n | type(self.port) == int && !has(self.name)\n | ..............................^\n",
    },
  ],
  [
    "a failure has a place",
    ["eval", "--expr", "self.ports.map(p, p.name)", ...data],
    {
      code: 1,
      out: "type:           list(dyn)\nactual cost:    31\nestimated cost: 12 to 18446744073709551615\n",
      err: "ERROR: <input>:1:20: no such key: name\n | self.ports.map(p, p.name)\n | ...................^\n",
    },
  ],
  [
    "every kind of value",
    [
      "eval",
      "--expr",
      "[dyn(1), dyn(2u), dyn(1.5), dyn('a\"'), dyn(b'a\\xff'), dyn(null), dyn(true), dyn(duration('90s')), dyn(timestamp(0)), dyn({1: [int]}), dyn(optional.of(1)), dyn(quantity('1Ki'))]",
    ],
    {
      code: 0,
      out: 'value:          [1, 2u, 1.5, "a\\"", b"a\\xff", null, true, duration("90s"), timestamp("1970-01-01T00:00:00Z"), {1: [int]}, optional.of(1), kubernetes.Quantity("1Ki")]\ntype:           list(dyn)\nactual cost:    14\nestimated cost: 67 to 67\n',
      err: "",
    },
  ],
  [
    "JSON",
    ["eval", "--json", "--expr", "{'a': [dyn(9223372036854775807), dyn(1.0), dyn(b'a'), dyn(optional.none())]}"],
    {
      code: 0,
      out: '{"value":{"a":[9223372036854775807,1,"YQ==",null]},"type":"map(string, list(dyn))","cost":{"actual":42,"estimated":{"min":45,"max":45}}}\n',
      err: "",
    },
  ],
  [
    "JSON of an error",
    ["eval", "--json", "--expr", "self.x", ...data],
    {
      code: 1,
      out: '{"type":"dyn","cost":{"actual":2,"estimated":{"min":1,"max":1}},"error":"ERROR: <input>:1:5: no such key: x\\n | self.x\\n | ....^"}\n',
      err: "",
    },
  ],
  [
    "no expression",
    ["eval"],
    {
      code: 2,
      out: "",
      err: "Error: required option '--expr <expression>' not specified\nRun coxswain cel eval --help for its options.\n",
    },
  ],
  [
    "an unknown flag",
    ["eval", "--expr", "1", "--dat", "x"],
    {
      code: 2,
      out: "",
      err: "Error: unknown option '--dat' (did you mean --data?)\nRun coxswain cel eval --help for its options.\n",
    },
  ],
  [
    "no such file",
    ["eval", "--expr", "1", "--data", join(testdata, "no")],
    { code: 2, out: "", err: "Error: no cannot be read: no such file or directory\n" },
  ],
  [
    "no such schema",
    ["eval", "--expr", "1", "--schema", `${join(testdata, "crd.yaml")}#/spec/no`],
    { code: 2, out: "", err: "Error: crd.yaml#/spec/no: there is no schema at this path\n" },
  ],
];

for (const [what, argv, want] of rows)
  test(`cel ${argv[0]}: ${what}`, async () => assert.deepEqual(await run(...argv), want));

test("cel check reports every error in definitions and policies", async () => {
  const { code, out, err } = await run("check", join(testdata, "crd.yaml"), join(testdata, "policies.yaml"));
  const path = "crd.yaml: CustomResourceDefinition widgets.example.com: spec.versions[0].schema.openAPIV3Schema";
  const replicas = "policies.yaml: ValidatingAdmissionPolicy replicas: spec";
  assert.equal(code, 1);
  assert.deepEqual(err.trimEnd().split("\n"), [
    `${path}.properties[spec].x-kubernetes-validations[1].rule: compilation failed: ERROR: <input>:1:5: undefined field 'replica'`,
    " | self.replica <= 3",
    " | ....^",
    `${path}.properties[spec].x-kubernetes-validations[2].rule: cel expression must evaluate to a bool`,
    `${replicas}.validations[2].expression: compilation failed: ERROR: <input>:1:8: undefined field 'user'`,
    " | request.user == 'me'",
    " | .......^",
    `${replicas}.validations[4].expression: compilation failed: ERROR: <input>:1:10: undefined field 'unknown'`,
    " | variables.unknown",
    " | .........^",
    `${replicas}.auditAnnotations[0].valueExpression: must evaluate to one of [string null_type] but got int`,
    "policies.yaml: MutatingAdmissionPolicy sidecar: spec.mutations[2].jsonPatch.expression: compilation failed: ERROR: <input>:1:14: expected type of field 'op' is 'string' but provided type is 'int'",
    " | [JSONPatch{op: 1}]",
    " | .............^",
  ]);
  assert.deepEqual(out.replaceAll(`${testdata}/`, "").trimEnd().split("\n"), [
    "crd.yaml: CustomResourceDefinition widgets.example.com: 5 expressions, 2 problems",
    "policies.yaml: ValidatingAdmissionPolicy replicas: 10 expressions, 3 problems",
    "policies.yaml: MutatingAdmissionPolicy sidecar: 3 expressions, 1 problem",
  ]);
});

test("cel check prints JSON", async () => {
  const { code, out } = await run("check", "--json", join(testdata, "policies.yaml"));
  assert.equal(code, 1);
  assert.deepEqual(
    JSON.parse(out).map(({ kind, name, expressions, problems }: { [key: string]: unknown[] }) => [
      kind,
      name,
      expressions,
      problems?.length,
    ]),
    [
      ["ValidatingAdmissionPolicy", "replicas", 10, 3],
      ["MutatingAdmissionPolicy", "sidecar", 3, 1],
    ],
  );
});

const replicaz = `apps/v1, Kind=Deployment: ERROR: <input>:1:12: undefined field 'replicaz'
 | object.spec.replicaz > 1
 | ...........^`;
const widget = `example.com/v1, Kind=Widget: ERROR: <input>:1:12: undefined field 'sizes'
 | object.spec.sizes > 1
 | ...........^`;
const crd = join(testdata, "crd.yaml");
const typed: [what: string, argv: string[], code: number, err: string][] = [
  ["a built-in kind", ["--kind", "Deployment", "--expr", "object.spec.replicaz > 1"], 1, `--expr: ${replicaz}\n`],
  ["a field that it has", ["--kind", "apps/v1/Deployment", "--expr", "object.spec.replicas > 1"], 0, ""],
  ["a resource", ["--resource", "deployments.apps", "--expr", "object.spec.replicaz > 1"], 1, `--expr: ${replicaz}\n`],
  ["a kind of the core group", ["--kind", "v1/Pod", "--expr", "object.spec.nodeName == ''"], 0, ""],
  [
    "an unknown kind",
    ["--kind", "Deploymnt", "--expr", "true"],
    2,
    "Error: --kind Deploymnt: there is no such kind; definitions of custom kinds can be in the files\n",
  ],
  [
    "a version that is not served",
    ["--kind", "apps/v1beta1/Deployment", "--expr", "true"],
    2,
    "Error: --kind apps/v1beta1/Deployment: there is no such kind; definitions of custom kinds can be in the files\n",
  ],
  ["no kind", ["--expr", "true"], 2, "Error: --expr needs the kind of its object: --kind, or --resource\n"],
  ["nothing", [], 2, "Error: a file or --expr is required\nRun coxswain cel check --help for its options.\n"],
];
for (const [what, argv, code, err] of typed)
  test(`cel check --expr: ${what}`, async () => {
    const ran = await run("check", ...argv);
    assert.deepEqual([ran.code, ran.err], [code, err]);
  });

test("cel check --expr: a custom kind of a file", async () => {
  const { code, err } = await run("check", crd, "--kind", "Widget", "--expr", "object.spec.sizes > 1");
  assert.equal(code, 1);
  assert.ok(err.endsWith(`--expr: ${widget}\n`), err);
});

test("cel check checks validations against the kinds of the rules, and of --kind", async () => {
  const policies = join(testdata, "typed-policies.yaml");
  const { code, err } = await run("check", crd, policies);
  assert.equal(code, 1);
  const own = err.slice(err.indexOf("typed-policies.yaml"));
  assert.equal(
    own,
    [
      "typed-policies.yaml: ValidatingAdmissionPolicy deployments: spec.validations[2].expression: compilation failed: ERROR: <input>:1:8: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}",
      " | true &&",
      " | .......^",
      `typed-policies.yaml: ValidatingAdmissionPolicy deployments: spec.validations[0].expression: ${replicaz}`,
      "typed-policies.yaml: ValidatingAdmissionPolicy deployments: spec.validations[1].messageExpression: apps/v1, Kind=Deployment: ERROR: <input>:1:23: undefined field 'nam'",
      " | string(object.metadata.nam)",
      " | ......................^",
      `typed-policies.yaml: ValidatingAdmissionPolicy widgets: spec.validations[0].expression: ${widget}`,
      "",
    ].join("\n"),
  );
  const other = await run("check", policies, "--kind", "v1/Pod", "-o", "json");
  const messages = JSON.parse(other.out).flatMap(({ problems }: { problems: { message: string }[] }) =>
    problems.map(({ message }) => message.split("\n")[0]),
  );
  assert.ok(messages.includes("/v1, Kind=Pod: ERROR: <input>:1:12: undefined field 'sizes'"), other.out);
});

test("cel check reports files without anything to check", async () => {
  const { code, err } = await run("check", join(testdata, "widget.yaml"));
  assert.deepEqual([code, err], [0, "There is nothing to check: no definition, policy or webhook configuration.\n"]);
});

test("--help lists both commands", async () => {
  assert.match((await run("--help")).out, /eval \[options\].*check \[options\] \[file\.\.\.\].*Exit codes/s);
  assert.match(
    (await run("eval", "--help")).out,
    /--expr <expression>.*--data <file>.*--schema <file#path>.*--output/s,
  );
  assert.equal((await run("eval", "--help")).code, 0);
});

test("the command evaluates", () => {
  const output = execFileSync(process.execPath, [join(source, "main.ts"), "cel", "eval", "--expr", "1 + 1", "--json"], {
    encoding: "utf8",
  });
  assert.equal(output, '{"value":2,"type":"int","cost":{"actual":1,"estimated":{"min":1,"max":1}}}\n');
});

test("does not load the server", () => {
  const loaded = new Set<string>();
  const visit = (file: string): void => {
    if (loaded.has(file)) return;
    loaded.add(file);
    for (const [, path] of readFileSync(file, "utf8").matchAll(
      /^(?:import|export)\s(?!type\s)[^;]*?from\s+"(\.[^"]+)"/gm,
    ))
      visit(join(dirname(file), path as string));
  };
  visit(join(import.meta.dirname, "command.ts"));
  const parts = new Set([...loaded].map((file) => relative(source, file).split("/")[0]));
  assert.deepEqual([...parts].sort(), ["apimachinery", "cel-environment", "cli", "lib"]);
});
