/** The subject of a verified client certificate: common name and organizations. Source: access-control §5.2. */
import type { UserInfo } from "../api/user.ts";
import type { Exchange, PeerCertificate } from "../http/contract.ts";
import type { Authenticator } from "./contract.ts";

const credentialIdKey = "authentication.kubernetes.io/credential-id";

/** Users are made once per certificate object, which is once per connection. */
export function clientCertificateAuthenticator(): Authenticator {
  const users = new WeakMap<PeerCertificate, UserInfo>();
  return ({ peerCertificate }: Exchange) => {
    if (peerCertificate === undefined) return undefined;
    if (!peerCertificate.verified || peerCertificate.commonName === "") return "refused";
    let user = users.get(peerCertificate);
    if (user === undefined) {
      user = userOf(peerCertificate);
      users.set(peerCertificate, user);
    }
    return user;
  };
}

function userOf({ commonName, organizations, fingerprint }: PeerCertificate): UserInfo {
  return { name: commonName, uid: "", groups: organizations, extra: new Map([[credentialIdKey, [`X509SHA256=${fingerprint}`]]]) };
}
