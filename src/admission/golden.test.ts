/** Sends the recorded requests of `tools/golden/server/admission` to a server with the same webhooks and policies. */
import { join } from "node:path";
import { testFamilies } from "../../test/support/admission-replay.ts";

testFamilies(join(import.meta.dirname, "testdata"), {
  "mutating-policies": [],
  "policy-bindings": [],
  "policy-expressions": [],
  "policy-requests": [],
  random: [],
  "webhook-answers": [],
  "webhook-matching": [
    /^rules-equivalent-mutating DELETE .*\/widgets$/, // The order in which the objects of a collection are deleted.
  ],
  "webhook-order": [],
  "webhook-patches": [
    /^widgets POST .*-(?:kind|other-group)\//, // The audit annotation of a patch that changes the type.
    /^widgets .*-label-number\//, // A patch cannot give a custom resource metadata of other types.
  ],
  "webhook-requests": [],
});
