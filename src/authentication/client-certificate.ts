/** The subject of a verified client certificate: common name, organizations and uid. Source: access-control §5.2; apiserver's request/x509. */
import type { UserInfo } from "../apimachinery/user.ts";
import type { Exchange, PeerCertificate } from "../http/contract.ts";
import type { Authorities } from "../lib/x509/authorities.ts";
import type { Authenticator } from "./contract.ts";

const credentialIdKey = "authentication.kubernetes.io/credential-id";

export interface ClientCertificateOptions {
  /** Who is trusted now. */
  readonly authorities: () => Authorities;
  /** Gate AllowParsingUserUIDFromCertAuth. */
  readonly uids: boolean;
  /** Told of the certificate of each request that has one, good or not. */
  readonly observe?: (certificate: PeerCertificate) => void;
}

/** Users are made once per certificate object, which is once per connection; whether they are to be believed is asked each time. */
export function clientCertificateAuthenticator({
  authorities,
  uids,
  observe,
}: ClientCertificateOptions): Authenticator {
  const users = new WeakMap<PeerCertificate, UserInfo | "refused">();
  return ({ peerCertificate }: Exchange) => {
    if (peerCertificate === undefined) return undefined;
    observe?.(peerCertificate);
    if (!peerCertificate.isTrustedBy(authorities())) return "refused";
    if (peerCertificate.commonName === "") return "refused"; // Upstream goes on to the anonymous user.
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
): UserInfo | "refused" {
  const [uid, ...more] = withUid ? uids : [];
  if (uid === "" || more.length > 0) return "refused";
  const extra = new Map([[credentialIdKey, [`X509SHA256=${fingerprint}`]]]);
  return { name: commonName, uid: uid ?? "", groups: organizations, extra };
}
