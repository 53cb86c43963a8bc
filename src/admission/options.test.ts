import assert from "node:assert/strict";
import { test } from "node:test";
import { chooseAdmissionPlugins } from "./options.ts";

const others = [
  "Priority",
  "CertificateApproval",
  "CertificateSigning",
  "ClusterTrustBundleAttest",
  "CertificateSubjectRestriction",
  "MutatingAdmissionPolicy",
  "MutatingAdmissionWebhook",
  "ValidatingAdmissionPolicy",
  "ValidatingAdmissionWebhook",
];
const both = ["NamespaceLifecycle", "NodeRestriction", ...others];
const noEffect = (name: string): string =>
  `enable-admission-plugins plugin "${name}" is not in this server and has no effect`;
const missing = (name: string): string =>
  `enable-admission-plugins plugin "${name}" is not in this server, which has NamespaceLifecycle, NodeRestriction, ${others.join(", ")}`;

/** `want` is the plugins that run, or the error message. */
const rows: [enable: string[], disable: string[], want: string[] | string, warnings?: string[]][] = [
  [[], [], ["NamespaceLifecycle", ...others]],
  [["NodeRestriction"], [], both],
  [["NamespaceLifecycle", "NodeRestriction", "NodeRestriction"], [], both],
  [[], ["NamespaceLifecycle"], others],
  [[], ["NamespaceLifecycle", ...others], []],
  [["NodeRestriction"], ["NamespaceLifecycle", "ServiceAccount", "AlwaysPullImages"], ["NodeRestriction", ...others]],
  [
    ["ServiceAccount", "NodeRestriction", "ResourceQuota"],
    [],
    both,
    [noEffect("ServiceAccount"), noEffect("ResourceQuota")],
  ],
  [["AlwaysPullImages"], [], missing("AlwaysPullImages")],
  [["nodeRestriction"], [], 'enable-admission-plugins plugin "nodeRestriction" is unknown'],
  [[], ["Priorities"], 'disable-admission-plugins plugin "Priorities" is unknown'],
  [
    ["NodeRestriction"],
    ["NodeRestriction"],
    "[NodeRestriction] in enable-admission-plugins and disable-admission-plugins overlapped",
  ],
  [
    ["x", "Priority", "NamespaceLifecycle", "EventRateLimit"],
    ["y", "Priority", "NamespaceLifecycle"],
    `[enable-admission-plugins plugin "x" is unknown, disable-admission-plugins plugin "y" is unknown, [NamespaceLifecycle Priority] in enable-admission-plugins and disable-admission-plugins overlapped, ${missing("EventRateLimit")}]`,
  ],
];

for (const [enable, disable, want, warnings = []] of rows) {
  test(`--enable-admission-plugins=${enable} --disable-admission-plugins=${disable}: ${want}`, () => {
    if (typeof want === "string")
      return assert.throws(() => chooseAdmissionPlugins({ enable, disable }), { message: want });
    const chosen = chooseAdmissionPlugins({ enable, disable });
    assert.deepEqual([...chosen.names], want);
    assert.deepEqual(chosen.warnings, warnings);
  });
}
