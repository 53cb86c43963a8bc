/** Sends the recorded requests of `tools/golden/server/admission` to a server with the same built-in plugins. */
import { join } from "node:path";
import { testFamilies } from "../../../test/support/admission-replay.ts";

testFamilies(join(import.meta.dirname, "testdata"), {
  // Upstream charges the quota of a write that then fails, until the controller counts again.
  "resource-quota": [/^quota-conflict GET /],
  "resource-quota-limited": [],
  "namespace-auto-provision": [],
  "namespace-exists": [],
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
});
