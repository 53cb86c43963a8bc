/** Compares the flags with those of kube-apiserver. `npm run golden flags` records them again. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { kubeApiserverFlags, upstreamDefault } from "../../test/support/kube-apiserver-flags.ts";
import { flagGroups } from "./flags.ts";

/** Defaults that differ; docs/reference/flags.md shows both. */
const otherDefaults: Readonly<Record<string, string | undefined>> = {
  "authorization-mode": "Node,RBAC",
  "bind-address": "127.0.0.1",
  "cert-dir": undefined,
  "service-account-issuer": "https://kubernetes.default.svc.cluster.local",
  "service-cluster-ip-range": "10.0.0.0/24",
};

const flags = new Map(flagGroups.flatMap(([, all]) => all.map((flag) => [/--([\w-]+)/.exec(flag.term)?.[1], flag])));

describe("every flag of kube-apiserver is a flag with the same default and deprecation", () => {
  for (const upstream of kubeApiserverFlags()) {
    const { name, deprecated } = upstream;
    if (name === "help" || name === "version") continue;
    test(`--${name}`, () => {
      const flag = flags.get(name);
      assert.ok(flag !== undefined, "no such flag");
      assert.equal(flag.deprecated, deprecated);
      if (flag.hidden) return;
      const want = Object.hasOwn(otherDefaults, name) ? otherDefaults[name] : upstreamDefault(upstream);
      assert.equal(flag.shown ?? flag.unset, want);
    });
  }
});

test("every other default belongs to a flag", () => {
  assert.deepEqual(
    Object.keys(otherDefaults).filter((name) => !flags.has(name)),
    [],
  );
});
