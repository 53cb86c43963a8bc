/** The flags of the log, with the messages of kube-apiserver 1.36.0. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Settings } from "./contract.ts";
import { parseFlags } from "./parse-flags.ts";

function settings(argv: readonly string[]): Settings {
  const line = parseFlags(argv);
  assert.ok(line.run === "server");
  return line.settings;
}

test("-v and --vmodule set the levels", () => {
  assert.deepEqual(settings([]).server.verbosity, { level: 0, modules: [] });
  assert.deepEqual(settings(["-v=4", "--vmodule=http*=3,", "--vmodule=trace=2"]).server.verbosity, {
    level: 4,
    modules: [
      { pattern: "http*", level: 3 },
      { pattern: "trace", level: 2 },
    ],
  });
  assert.equal(settings(["-v", "2"]).server.verbosity?.level, 2);
});

test("the options of streams need their gate", () => {
  const { log } = settings([
    "--feature-gates=LoggingAlphaOptions=true",
    "--log-text-split-stream",
    "--log-text-info-buffer-size=4Ki",
    "--log-flush-frequency=1s",
  ]).command;
  assert.deepEqual(log.text, { splitStream: true, infoBufferSize: 4096 });
  assert.equal(log.flushMs, 1000);
});

const disabled = "Forbidden: Feature LoggingAlphaOptions is disabled";
const rejected: readonly (readonly [argv: readonly string[], message: string])[] = [
  [["--v=x"], 'invalid argument "x" for "-v, --v" flag: strconv.ParseUint: parsing "x": invalid syntax'],
  [
    ["--v=2147483648"],
    'invalid argument "2147483648" for "-v, --v" flag: strconv.ParseUint: parsing "2147483648": value out of range',
  ],
  [["--vmodule=a"], 'invalid argument "a" for "--vmodule" flag: "a" does not have the pattern=N format'],
  [
    ["--vmodule=a=x"],
    'invalid argument "a=x" for "--vmodule" flag: parsing verbosity in "a=x": strconv.ParseUint: parsing "x": invalid syntax',
  ],
  [["--vmodule=a=1", "--logging-format=json"], "vmodule: Forbidden: Only supported for text log format"],
  [["--log-text-split-stream"], `options.text.splitStream: ${disabled}`],
  [
    ["--log-json-info-buffer-size=1Ki", "--log-json-split-stream", "--log-text-info-buffer-size=1"],
    `[options.text.infoBufferSize: ${disabled}, options.json.splitStream: ${disabled}, options.json.infoBufferSize: ${disabled}]`,
  ],
  [["--log-flush-frequency=0s"], 'flushFrequency: Invalid value: "0s": Must be greater than zero'],
];
for (const [argv, message] of rejected)
  test(`rejects ${argv.join(" ")}`, () => assert.throws(() => settings(argv), { message }));
