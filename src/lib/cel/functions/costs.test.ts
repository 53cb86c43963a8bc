/** What a call costs is a number, though its arguments failed: anything else would be no limit at all. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { kubernetesLibraries } from "../kubernetes-environment.ts";
import { fail } from "../values/failure.ts";
import { standardFunctions } from "./standard/standard.ts";

const functions = [...standardFunctions, ...kubernetesLibraries.flatMap(({ library }) => library.functions)];

for (const { name, cost, overloads } of functions) {
  for (const overload of overloads) {
    test(`${name}: ${overload.id}`, () => {
      const failed = overload.parameters.map(() => fail("no"));
      for (const costOf of [cost, overload.cost])
        if (costOf !== undefined) assert(Number.isSafeInteger(costOf(failed, fail("no"))));
    });
  }
}
