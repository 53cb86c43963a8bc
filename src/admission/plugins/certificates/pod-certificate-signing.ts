/**
 * Changing the status of a PodCertificateRequest requires the permission to sign for its signer.
 * Upstream checks this in the strategy of the kind: no flag disables it, and the error names a
 * field.
 * Source: k8s.io/kubernetes@v1.36.0/pkg/registry/certificates/podcertificaterequest/strategy.go.
 */
import { invalid } from "../../../apimachinery/errors.ts";
import { FieldErrors } from "../../../apimachinery/field-errors.ts";
import type { Authorizer } from "../../../authorization/contract.ts";
import { quoteGo } from "../../../lib/json/quote.ts";
import type { AdmissionAttributes } from "../../../registry/admission-attributes.ts";
import type { AdmissionPlugin } from "../../contract.ts";
import { sameField } from "../../same-field.ts";
import { isAuthorizedForSigner } from "./signer-rights.ts";

const group = "certificates.k8s.io";

/** @returns a plugin that always runs */
export function podCertificateSigning(authorize: Authorizer): AdmissionPlugin {
  return {
    name: "PodCertificateSigning",
    authorize(attributes) {
      const { definition } = attributes.target.resource;
      if (definition.group !== group || definition.resource !== "podcertificaterequests") return;
      if (attributes.subresource === "status" && attributes.operation === "UPDATE" && !sameField(attributes, "status"))
        return check(authorize, attributes);
    },
  };
}

/** @throws ApiError 422 */
async function check(authorize: Authorizer, { user, oldObject, name }: AdmissionAttributes): Promise<void> {
  const signer: string = oldObject?.spec?.signerName ?? "";
  if (await isAuthorizedForSigner(authorize, user, "sign", signer)) return;
  const errors = new FieldErrors();
  errors.forbidden(
    "spec.signerName",
    `User ${quoteGo(user.name)} is not permitted to "sign" for signer ${quoteGo(signer)}`,
  );
  throw invalid(group, "PodCertificateRequest", name, errors.causes);
}
