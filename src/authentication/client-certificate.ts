/**
 * Authenticates by client certificate.
 * Source: k8s.io/apiserver@v0.36.0/pkg/authentication/request/x509/x509.go.
 */
import type { UserInfo } from "../apimachinery/user.ts";
import type { Authorities } from "../lib/x509/authorities.ts";
import type { Exchange, PeerCertificate } from "../request/exchange.ts";
import type { Authenticator } from "./contract.ts";

const credentialIdKey = "authentication.kubernetes.io/credential-id";

interface ClientCertificateOptions {
  /** Returns the current trusted authorities. */
  readonly authorities: () => Authorities;
  /** The gate AllowParsingUserUIDFromCertAuth. */
  readonly uids: boolean;
  /** Receives the certificate of each request, valid or not. */
  readonly observe?: (certificate: PeerCertificate) => void;
}

/**
 * @returns an authenticator that caches the user per connection and verifies the authority for each
 *   request
 */
export function clientCertificateAuthenticator({
  authorities,
  uids,
  observe,
}: ClientCertificateOptions): Authenticator {
  const users = new WeakMap<PeerCertificate, UserInfo | "rejected">();
  return ({ peerCertificate }: Exchange) => {
    if (peerCertificate === undefined) return undefined;
    observe?.(peerCertificate);
    if (!peerCertificate.isTrustedBy(authorities())) return "rejected";
    if (peerCertificate.commonName === "") return "rejected"; // Upstream continues as the anonymous user.
    let user = users.get(peerCertificate);
    if (user === undefined) {
      user = userOf(peerCertificate, uids);
      users.set(peerCertificate, user);
    }
    return user;
  };
}

function userOf(
  { commonName, organizations, fingerprint, uids }: PeerCertificate,
  withUid: boolean,
): UserInfo | "rejected" {
  const [uid, ...more] = withUid ? uids : [];
  if (uid === "" || more.length > 0) return "rejected";
  const extra = new Map([[credentialIdKey, [`X509SHA256=${fingerprint}`]]]);
  return { name: commonName, uid: uid ?? "", groups: organizations, extra };
}
