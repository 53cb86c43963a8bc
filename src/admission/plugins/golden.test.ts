/** Sends the recorded requests of `tools/golden/server/admission` to a server with the same built-in plugins. */
import { join } from "node:path";
import { testFamilies } from "../../../test/support/admission-replay.ts";

const replacedConnection = /^answer-closed /; // A call on a connection that is closed before the answer is repeated on a new one.

testFamilies(join(import.meta.dirname, "testdata"), {
  // Upstream charges the quota of a write that then fails, until the controller counts again.
  "resource-quota": [/^quota-conflict GET /],
  "resource-quota-limited": [],
  "event-rates": [],
  "image-policies": [replacedConnection],
  "image-policies-failing-open": [replacedConnection],
  "namespace-auto-provision": [],
  "namespace-exists": [],
  "node-selectors": [],
  "optional-objects": [],
  "owner-references": [],
  "limit-ranger": [],
  "pod-security": [],
  "pod-security-configuration": [],
  "pod-defaults": [],
  "pod-defaults-without-gates": [],
  "pod-groups": [],
  "pod-resizes": [],
  "pod-resizes-without-gates": [],
  "service-accounts": [],
  "restrictions-without-configuration": [],
  tolerations: [],
  "pod-group-protection": [],
  "storage-plugins": [],
});
