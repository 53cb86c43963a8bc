/** Webhooks in other processes. */
import type { TestSignal } from "../contract.ts";

/** A webhook in another process. */
export interface WebhookTarget {
  /**
   * `https://…` with any host, or `http://…` with a host of this machine: the test server then receives the calls over
   * TLS and forwards them.
   */
  readonly url: string;
  /** PEM of the authorities that signed the certificate of an `https` URL; by default those of this test server. */
  readonly caBundle?: string;
  /** Ends the wait for the webhook. */
  readonly signal?: TestSignal;
}
