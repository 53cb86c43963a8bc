/**
 * The plugins CertificateApproval, CertificateSigning, CertificateSubjectRestriction and ClusterTrustBundleAttest: who may act for a signer, and what
 * no signer of ours may be asked for. Source: upstream's plugins of these names.
 */
import type { KubeObject } from "../../../apimachinery/object.ts";
import type { Authorizer } from "../../../authorization/contract.ts";
import { quoteGo } from "../../../lib/json/quote.ts";
import { equalBySchema } from "../../../lib/schema/equal.ts";
import type { AdmissionAttributes, AdmissionPlugin } from "../../contract.ts";
import { refusal } from "../../refusal.ts";
import { sameField } from "../../same-field.ts";
import { requestSubject } from "./request-subject.ts";
import { maySigner, type SignerVerb } from "./signer-rights.ts";

export interface CertificateNeeds {
  /** The whole chain. */
  readonly authorize: Authorizer;
  enabled(gate: string): boolean;
}

export function certificatePlugins(needs: CertificateNeeds): AdmissionPlugin[] {
  return [approval(needs), signing(needs), trustBundleAttest(needs), subjectRestriction];
}

function isOf({ target }: AdmissionAttributes, resource: string): boolean {
  const { definition } = target.resource;
  return definition.group === "certificates.k8s.io" && definition.resource === resource;
}

/** The signer is that of the object as it is: nobody changes it on the way. */
function approval({ authorize }: CertificateNeeds): AdmissionPlugin {
  return {
    name: "CertificateApproval",
    validate(attributes) {
      if (
        !isOf(attributes, "certificatesigningrequests") ||
        attributes.subresource !== "approval" ||
        attributes.operation !== "UPDATE"
      )
        return;
      return checkSigner(authorize, attributes, "approve", attributes.oldObject);
    },
  };
}

function signing({ authorize }: CertificateNeeds): AdmissionPlugin {
  return {
    name: "CertificateSigning",
    validate(attributes) {
      if (
        !isOf(attributes, "certificatesigningrequests") ||
        attributes.subresource !== "status" ||
        attributes.operation !== "UPDATE"
      )
        return;
      if (sameField(attributes, "status.certificate") && sameField(attributes, "status.conditions")) return;
      return checkSigner(authorize, attributes, "sign", attributes.oldObject);
    },
  };
}

const refused: Readonly<Record<SignerVerb, string>> = {
  approve: "approve requests with signerName",
  attest: "attest for signerName",
  sign: "sign requests with signerName",
};

async function checkSigner(
  authorize: Authorizer,
  attributes: AdmissionAttributes,
  verb: SignerVerb,
  object: KubeObject | undefined,
): Promise<void> {
  const signerName: string = object?.spec?.signerName ?? "";
  if (await maySigner(authorize, attributes.user, verb, signerName)) return;
  throw refusal(attributes, `user not permitted to ${refused[verb]} ${quoteGo(signerName)}`);
}

/** A bundle whose owners and finalizers alone change is left to the garbage collector. */
function trustBundleAttest({ authorize, enabled }: CertificateNeeds): AdmissionPlugin {
  return {
    name: "ClusterTrustBundleAttest",
    validate(attributes) {
      const { operation, object } = attributes;
      if (
        !isOf(attributes, "clustertrustbundles") ||
        (operation !== "CREATE" && operation !== "UPDATE") ||
        !enabled("ClusterTrustBundle")
      )
        return;
      if ((object?.spec?.signerName ?? "") === "" || (operation === "UPDATE" && onlyLetsGo(attributes))) return;
      return checkSigner(authorize, attributes, "attest", object);
    },
  };
}

function onlyLetsGo({ target, object, oldObject }: AdmissionAttributes): boolean {
  const schema = target.resource.store?.form.schema;
  if (schema === undefined || object === undefined || oldObject === undefined) return false;
  const { ownerReferences, finalizers, managedFields } = oldObject.metadata;
  const kept = { ownerReferences, finalizers, managedFields };
  return equalBySchema({ ...object, metadata: { ...object.metadata, ...kept } }, oldObject, schema);
}

const clientSigner = "kubernetes.io/kube-apiserver-client";

const subjectRestriction: AdmissionPlugin = {
  name: "CertificateSubjectRestriction",
  validate(attributes) {
    const { operation, subresource, object } = attributes;
    if (!isOf(attributes, "certificatesigningrequests") || subresource !== "" || operation !== "CREATE") return;
    if (object?.spec?.signerName === clientSigner) return checkSubject(attributes, object.spec.request ?? "");
  },
};

async function checkSubject(attributes: AdmissionAttributes, request: string): Promise<void> {
  const subject = await requestSubject(request);
  if ("problem" in subject) throw refusal(attributes, `failed to parse CSR: ${subject.problem}`);
  if (!subject.organizations.includes("system:masters")) return;
  throw refusal(attributes, `use of ${clientSigner} signer with system:masters group is not allowed`);
}
