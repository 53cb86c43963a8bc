/** Rights on the synthetic resource `signers`. Source: access-control §5.3.10; upstream's certauthorization. */
import type { UserInfo } from "../../../apimachinery/user.ts";
import type { Authorizer } from "../../../authorization/contract.ts";

export type SignerVerb = "approve" | "attest" | "sign";

/** Whether the user has the right on the signer itself, or on all of its domain (`example.com/*`). */
export async function maySigner(
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
