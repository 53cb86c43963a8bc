import assert from "node:assert/strict";
import { test } from "node:test";
import type { AdmissionOptions } from "./contract.ts";
import { chooseAdmissionPlugins, implementedPlugins } from "./options.ts";

// Two plugins are in the rows; the others of this server run by default.
const others = implementedPlugins.byDefault.filter((name) => name !== "NamespaceLifecycle");
const both = ["NamespaceLifecycle", "NodeRestriction", ...others];

/** `want` is the plugins that run, or the error message. */
const rows: [enable: string[], disable: string[], want: string[] | string][] = [
  [[], [], ["NamespaceLifecycle", ...others]],
  [["NodeRestriction"], [], both],
  [["NamespaceLifecycle", "NodeRestriction", "NodeRestriction"], [], both],
  [[], ["NamespaceLifecycle"], others],
  [[], ["NamespaceLifecycle", ...others], []],
  [["NodeRestriction"], ["NamespaceLifecycle", "AlwaysPullImages"], ["NodeRestriction", ...others]],
  [["nodeRestriction"], [], 'enable-admission-plugins plugin "nodeRestriction" is unknown'],
  [[], ["Priorities"], 'disable-admission-plugins plugin "Priorities" is unknown'],
  [
    ["NodeRestriction"],
    ["NodeRestriction"],
    "[NodeRestriction] in enable-admission-plugins and disable-admission-plugins overlapped",
  ],
  [
    ["x", "Priority", "NamespaceLifecycle"],
    ["y", "Priority", "NamespaceLifecycle"],
    '[enable-admission-plugins plugin "x" is unknown, disable-admission-plugins plugin "y" is unknown, [NamespaceLifecycle Priority] in enable-admission-plugins and disable-admission-plugins overlapped]',
  ],
];

for (const [enable, disable, want] of rows) {
  test(`--enable-admission-plugins=${enable} --disable-admission-plugins=${disable}: ${want}`, () => {
    if (typeof want === "string")
      return assert.throws(() => chooseAdmissionPlugins({ enable, disable }), { message: want });
    assert.deepEqual([...chooseAdmissionPlugins({ enable, disable })].sort(), [...want].sort());
  });
}

const onlyRows: [options: Partial<AdmissionOptions>, want: string[] | string][] = [
  [{ only: ["PodSecurity", "AlwaysAdmit"] }, ["AlwaysAdmit", "PodSecurity"]],
  [{ only: [] }, []],
  [{ only: ["Nope"] }, 'admission-control plugin "Nope" is unknown'],
  [
    { only: ["AlwaysAdmit"], enable: ["NodeRestriction"] },
    "admission-control and enable-admission-plugins/disable-admission-plugins flags are mutually exclusive",
  ],
];
for (const [options, want] of onlyRows)
  test(`the deprecated --admission-control: ${JSON.stringify(options)}`, () => {
    const choose = () => chooseAdmissionPlugins({ enable: [], disable: [], ...options });
    if (typeof want === "string") assert.throws(choose, { message: want });
    else assert.deepEqual([...choose()], want);
  });

test("the plugins are in kube-apiserver's order, whatever the order of the flag", () => {
  const names = chooseAdmissionPlugins({ enable: ["AlwaysDeny", "NodeRestriction", "AlwaysAdmit"], disable: [] });
  const order = [
    "AlwaysAdmit",
    "NamespaceLifecycle",
    "NodeRestriction",
    "Priority",
    "ValidatingAdmissionWebhook",
    "AlwaysDeny",
  ];
  assert.deepEqual(
    [...names].filter((name) => order.includes(name)),
    order,
  );
});
