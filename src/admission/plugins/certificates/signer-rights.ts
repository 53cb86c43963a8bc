/**
 * Permissions on the virtual resource `signers`. Source:
 * k8s.io/kubernetes@v1.36.0/pkg/certauthorization/certauthorization.go.
 */
import type { UserInfo } from "../../../apimachinery/user.ts";
import type { Authorizer } from "../../../authorization/contract.ts";

/** The verbs of permissions for signers. */
export type SignerVerb = "approve" | "attest" | "sign";

/**
 * Whether the user has the permission for the signer itself, or for all signers of its domain
 * (`example.com/*`).
 */
export async function isAuthorizedForSigner(
  authorize: Authorizer,
  user: UserInfo,
  verb: SignerVerb,
  signerName: string,
): Promise<boolean> {
  const nothing = { path: "", subresource: "", namespace: "", fieldSelector: "", labelSelector: "" };
  const request = {
    ...nothing,
    user,
    verb,
    isResourceRequest: true,
    group: "certificates.k8s.io",
    version: "*",
    resource: "signers",
  };
  const domain = signerName.split("/")[0] ?? "";
  for (const name of [signerName, `${domain}/*`]) {
    const { decision } = await authorize({ ...request, name });
    if (decision === "allow") return true;
  }
  return false;
}
