/** The cost of a call with failed arguments is a number. NaN would disable the cost limit. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { kubernetesLibraries } from "../kubernetes-environment.ts";
import { fail } from "../values/failure.ts";
import { standardFunctions } from "./standard/standard.ts";

const functions = [...standardFunctions, ...kubernetesLibraries.flatMap(({ library }) => library.functions)];

for (const { name, cost, overloads } of functions) {
  for (const overload of overloads) {
    test(`charges a number for failed arguments: ${name}: ${overload.id}`, () => {
      const failed = overload.parameters.map(() => fail("no"));
      for (const costOf of [cost, overload.cost])
        if (costOf !== undefined) assert(Number.isSafeInteger(costOf(failed, fail("no"))));
    });
  }
}
