/** Warnings about certificates that are not valid now. The server uses them, as kube-apiserver does. */
import type { X509Certificate } from "node:crypto";
import type { Clock } from "../../apimachinery/clock.ts";
import type { Logger } from "../../apimachinery/logger.ts";

/**
 * Logs certificates of a file that have expired or are not valid yet, because clients reject them,
 * or the server rejects the clients of an authority.
 *
 * @param name the purpose and the file
 */
export function warnOfValidity(
  name: string,
  certificates: readonly X509Certificate[],
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): void {
  const now = clock.now();
  for (const { subject, validFromDate, validToDate } of certificates) {
    const isEarly = now < validFromDate.getTime();
    if (!isEarly && now <= validToDate.getTime()) continue;
    logger.warn(isEarly ? "Certificate is not valid yet" : "Certificate has expired", {
      name,
      subject: subject?.replaceAll("\n", ", ") ?? "",
      notBefore: validFromDate.toISOString(),
      notAfter: validToDate.toISOString(),
    });
  }
}
