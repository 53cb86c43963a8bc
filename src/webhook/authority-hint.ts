/** Explains why an authority with the right name has not signed a certificate. */
import { X509Certificate } from "node:crypto";
import { quoteGo } from "../lib/json/quote.ts";
import { pemBlocks } from "../lib/x509/pem-blocks.ts";

const failures: Readonly<Record<string, string>> = {
  ec: "x509: ECDSA verification failure",
  ed25519: "x509: Ed25519 verification failure",
  rsa: "crypto/rsa: verification error",
};
/** Of a bundle; further ones are not compared. */
const authoritiesMax = 100;

/**
 * Formats the hint that follows `certificate signed by unknown authority`. Webhooks that rotate
 * their authority give each one the same name, so users see this hint until the new one is
 * configured. Source: `UnknownAuthorityError` in Go's crypto/x509/verify.go.
 *
 * @param ca PEM of the trusted authorities; undefined for those of the system
 * @returns text that starts with a space, or an empty text if no authority has the issuer's name
 */
export function authorityHint(certificate: X509Certificate, ca: string | undefined): string {
  const candidates = authorities(ca).filter((authority) => authority.subject === certificate.issuer);
  const candidate = candidates.find(({ publicKey }) => !certificate.verify(publicKey));
  const failure = failures[candidate?.publicKey.asymmetricKeyType ?? ""];
  if (candidate === undefined || failure === undefined) return "";
  const why = `possibly because of ${quoteGo(failure)} while trying to verify candidate authority certificate`;
  return ` (${why} ${quoteGo(nameOf(candidate))})`;
}

function authorities(ca = ""): X509Certificate[] {
  const blocks = pemBlocks(ca).filter(({ type, hasHeaders }) => type === "CERTIFICATE" && !hasHeaders);
  return blocks.slice(0, authoritiesMax).flatMap(({ bytes }) => parse(bytes));
}

/** As Go, ignores what is not a certificate. */
function parse(bytes: Buffer): X509Certificate[] {
  try {
    return [new X509Certificate(bytes)];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code?.startsWith("ERR_OSSL")) return [];
    throw error;
  }
}

/** The common name, or else the first organization, or else the serial number. */
function nameOf({ subject, serialNumber }: X509Certificate): string {
  const lines = subject.split("\n");
  const field = (name: string): string | undefined =>
    lines.find((line) => line.startsWith(`${name}=`))?.slice(name.length + 1);
  return field("CN") ?? field("O") ?? `serial:${BigInt(`0x${serialNumber}`)}`;
}
