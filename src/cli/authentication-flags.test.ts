/**
 * Authentication flags have kube-apiserver's names and defaults. Source: its --help of version
 * 1.36.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { authenticationFlags } from "./authentication-flags.ts";

/**
 * The default is empty if it depends on other flags; `ours` is a default that upstream does not
 * have.
 */
const rows: [flag: string, standard: string, ours?: string][] = [
  ["anonymous-auth", ""],
  ["api-audiences", ""],
  ["authentication-config", ""],
  ["authentication-token-webhook-cache-ttl", "2m0s"],
  ["authentication-token-webhook-config-file", ""],
  ["authentication-token-webhook-version", "v1beta1"],
  ["client-ca-file", ""],
  ["egress-selector-config-file", ""],
  ["enable-bootstrap-token-auth", "false"],
  ["legacy-service-account-token-clean-up-period", "8760h0m0s"], // A flag of kube-controller-manager.
  ["oidc-ca-file", ""],
  ["oidc-client-id", ""],
  ["oidc-groups-claim", ""],
  ["oidc-groups-prefix", ""],
  ["oidc-issuer-url", ""],
  ["oidc-required-claim", ""],
  ["oidc-signing-algs", ""],
  ["oidc-username-claim", ""],
  ["oidc-username-prefix", ""],
  ["requestheader-allowed-names", ""],
  ["requestheader-client-ca-file", ""],
  ["requestheader-extra-headers-prefix", ""],
  ["requestheader-group-headers", ""],
  ["requestheader-uid-headers", ""],
  ["requestheader-username-headers", ""],
  ["service-account-extend-token-expiration", "true"],
  ["service-account-issuer", "", "https://kubernetes.default.svc.cluster.local"],
  ["service-account-jwks-uri", ""],
  ["service-account-key-file", ""],
  ["service-account-lookup", "true"],
  ["service-account-max-token-expiration", "0s"],
  ["service-account-signing-key-file", ""],
  ["token-auth-file", ""],
];

test("has exactly upstream's authentication flags and defaults", () => {
  const flags = authenticationFlags.map(
    ({ term, shown = "" }) => [/^--([\w-]+)/.exec(term)?.[1] as string, shown] as const,
  );
  assert.deepEqual(new Map([...flags].sort()), new Map(rows.map(([flag, standard, ours = standard]) => [flag, ours])));
});
