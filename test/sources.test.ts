/** Where the rules of libraries and contracts come from: each file names a source that anyone can open, or is in the list. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const root = join(import.meta.dirname, "..");

/** A standard, a proposal, an address, an upstream file with its version, or what the text says after the word. */
const source = /\bRFC \d+|\bKEP-\d+|https:\/\/|\bgithub\.com\/|\bk8s\.io\/[\w-]+@v|\bSource:\s/;

/** Files that implement no rule from outside: how this project works, or finds something faster. */
const own: readonly string[] = [
  "apimachinery/data/data-file.ts",
  "apimachinery/followed-files.ts",
  "apimachinery/guarded-clock.ts",
  "apimachinery/header-text.ts",
  "apimachinery/keep-file.ts",
  "apimachinery/logger.ts",
  "apimachinery/make-directory.ts",
  "apimachinery/random.ts",
  "apimachinery/reload-observer.ts",
  "apimachinery/repeat.ts",
  "apimachinery/run-script.ts",
  "apimachinery/turns.ts",
  "apimachinery/validation/declarative/ruled-structs.ts",
  "apimachinery/within.ts",
  "apimachinery/write-file-atomically.ts",
  "catalog/contract.ts",
  "cli/cel/contract.ts",
  "cli/certs/contract.ts",
  "cli/doctor/contract.ts",
  "cli/flags/contract.ts",
  "cli/store/contract.ts",
  "controllers/contract.ts",
  "forwarding/aggregator/discovery/contract.ts",
  "forwarding/aggregator/openapi/contract.ts",
  "forwarding/contract.ts",
  "forwarding/proxy/contract.ts",
  "http/contract.ts",
  "lib/bounded-file/bounded-file.ts",
  "lib/byte-pieces/byte-pieces.ts",
  "lib/cel/errors.ts",
  "lib/cel/functions/declare.ts",
  "lib/cel/operators.ts",
  "lib/cel/tagged.ts",
  "lib/cel/values/failure.ts",
  "lib/cel/values/plain-map.ts",
  "lib/cel/values/plain-pattern.ts",
  "lib/fair-queuing/event-loop-turns.ts",
  "lib/fair-queuing/fair-turns.ts",
  "lib/first-by-key/first-by-key.ts",
  "lib/grpc/unary-call.ts",
  "lib/ip-range/ip-version.ts",
  "lib/json-patch/long-list.ts",
  "lib/json/count-containers.ts",
  "lib/json/json-text.ts",
  "lib/json/member.ts",
  "lib/json/printable.ts",
  "lib/json/project.ts",
  "lib/json/survey.ts",
  "lib/json/values.ts",
  "lib/linked-list/linked-list.ts",
  "lib/memo/memo.ts",
  "lib/pauses.ts",
  "lib/persistent-tree/differences.ts",
  "lib/persistent-tree/ordered-key.ts",
  "lib/persistent-tree/tree.ts",
  "lib/pod-security/pod.ts",
  "lib/processes/own-command.ts",
  "lib/protobuf/json-texts.ts",
  "lib/protobuf/text-memo.ts",
  "lib/schema/decode-plan.ts",
  "lib/secrets/same-secret.ts",
  "lib/selectors/many-requirements.ts",
  "lib/structural-schema/json-object.ts",
  "lib/structural-schema/validate/accepts.ts",
  "lib/structural-schema/validate/pattern-size.ts",
  "lib/structured-merge/whole-value.ts",
  "lib/text/integer.ts",
  "lib/text/trim.ts",
  "lib/watched-file/watched-file.ts",
  "lib/yaml/cursor.ts",
  "storage/contract.ts",
  "testing/contract.ts",
  "testing/control/contract.ts",
  "testing/faults/contract.ts",
  "testing/install/contract.ts",
  "testing/timeline/contract.ts",
  "watch-cache/contract.ts",
];

const files = globSync(["{apimachinery,lib}/**/*.ts", "**/{contract,*-contract}.ts"], { cwd: join(root, "src") })
  .map((file) => file.replaceAll("\\", "/"))
  .filter((file) => !/\.(?:test|suite)\.ts$|\/(?:testing|testdata)\//.test(file));

test("contracts, and files of lib/ and apimachinery/ name the source of their rules, or have their own", () => {
  const without = files.filter((file) => !source.test(readFileSync(join(root, "src", file), "utf8")));
  assert.deepEqual(without.sort(), [...own].sort());
});
