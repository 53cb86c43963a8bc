/**
 * Only who may sign for the signer changes the status of a pod's certificate request. Upstream asks in the kind's strategy, so that this is no plugin
 * that could be switched off, and a field is what is forbidden. Source: kubernetes' registry/certificates/podcertificaterequest.
 */
import { invalid } from "../../../apimachinery/errors.ts";
import { FieldErrors } from "../../../apimachinery/field-errors.ts";
import type { Authorizer } from "../../../authorization/contract.ts";
import { quoteGo } from "../../../lib/json/quote.ts";
import type { AdmissionAttributes, AdmissionPlugin } from "../../contract.ts";
import { sameField } from "../../same-field.ts";
import { maySigner } from "./signer-rights.ts";

const group = "certificates.k8s.io";

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
  if (await maySigner(authorize, user, "sign", signer)) return;
  const errors = new FieldErrors();
  errors.forbidden(
    "spec.signerName",
    `User ${quoteGo(user.name)} is not permitted to "sign" for signer ${quoteGo(signer)}`,
  );
  throw invalid(group, "PodCertificateRequest", name, errors.causes);
}
