/**
 * Builds the credentials with which the server calls itself, for webhooks whose Service is
 * `kubernetes`. Source: k8s.io/apiserver@v0.36.0/pkg/server/options/serving_with_loopback.go.
 */
import { randomBytes } from "node:crypto";
import { parseCertificates } from "../lib/x509/pem.ts";
import type { LoopbackCredentials } from "../webhook/contract.ts";
import type { ServingSetup } from "./serving/serving-setup.ts";

/** The bytes of the token, which no other process knows. */
const tokenBytes = 32;

/**
 * Makes a new token. It is sent only to a server that has one of this server's own certificates
 * (upstream: one that exists for this purpose).
 */
export function loopbackCredentials(serving: Pick<ServingSetup, "material">): LoopbackCredentials {
  return {
    token: randomBytes(tokenBytes).toString("base64url"),
    userAgent: "Go-http-client/1.1", // Upstream sets none.
    pinned() {
      const { certificate, named } = serving.material();
      return [certificate, ...named].flatMap(({ cert }) => parseCertificates(cert).slice(0, 1)).map(({ raw }) => raw);
    },
  };
}
