/** In addition to the recorded configurations: upstream lists the supported types in random order. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { parseEventLimits } from "./configuration.ts";

const parse = (limits: unknown): unknown =>
  parseEventLimits(
    Buffer.from(
      JSON.stringify({ apiVersion: "eventratelimit.admission.k8s.io/v1alpha1", kind: "Configuration", limits }),
    ),
  );

test("a limit of an unknown type is an error with the known types", () =>
  assert.throws(() => parse([{ type: "X", qps: 1, burst: 1 }]), {
    message:
      'limits[0].type: Unsupported value: "X": supported values: "Server", "Namespace", "User", "SourceAndObject"',
  }));

test("a limit that is null has all problems", () =>
  assert.throws(() => parse([null]), {
    message:
      /^\[limits\[0\]\.type: .*, limits\[0\]\.burst: .*, limits\[0\]\.qps: Invalid value: 0: must be positive\]$/,
  }));

test("a limit has 4096 buckets by default", () =>
  assert.deepEqual(parse([{ type: "User", qps: 1, burst: 2, cacheSize: 0 }]), [
    { type: "User", qps: 1, burst: 2, cacheSize: 4096 },
  ]));
