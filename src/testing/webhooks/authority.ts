/** The authority of webhooks of a test server, and the certificates that it signs. */
import { createAuthority, issueCertificate, type KeyPair } from "../../server/serving/x509.ts";

/** Signs serving certificates for webhooks. It is not the authority of the server. */
export interface WebhookAuthority {
  /** PEM of its certificate. */
  ca(): Promise<string>;
  /** @param names DNS names and addresses, at least one */
  issue(names: readonly string[]): Promise<KeyPair>;
}

const dayMs = 24 * 3_600_000;
const validDays = 365;

/** Creates an authority with the first certificate. */
export function webhookAuthority(): WebhookAuthority {
  let created: Promise<KeyPair> | undefined;
  const authority = (): Promise<KeyPair> => {
    created ??= createAuthority({ subject: { commonName: "coxswain-testing-webhooks" }, ...validity() });
    return created;
  };
  return {
    ca: async () => (await authority()).cert,
    async issue(names) {
      const subject = { commonName: names[0] as string };
      return issueCertificate(await authority(), { subject, usage: "server", names, ...validity() });
    },
  };
}

/** By the real time: both sides of a connection check it. */
function validity(): { readonly notBefore: number; readonly notAfter: number } {
  const now = Date.now();
  return { notBefore: now - dayMs, notAfter: now + validDays * dayMs };
}
