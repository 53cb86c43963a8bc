/**
 * The plugins CertificateApproval, CertificateSigning and ClusterTrustBundleAttest require the
 * permission to act for a signer. CertificateSubjectRestriction rejects requests for client
 * certificates of the group system:masters.
 * Source: k8s.io/kubernetes@v1.36.0/plugin/pkg/admission/certificates/.
 */

import type { KubeObject } from "../../../apimachinery/object.ts";
import type { Authorizer } from "../../../authorization/contract.ts";
import { quoteGo } from "../../../lib/json/quote.ts";
import { equalBySchema } from "../../../lib/schema/equal.ts";
import { parseRequestField } from "../../../lib/x509/certificate-request.ts";
import type { AdmissionAttributes } from "../../../registry/admission-attributes.ts";
import type { AdmissionPlugin } from "../../contract.ts";
import { rejection } from "../../rejection.ts";
import { sameField } from "../../same-field.ts";
import { isAuthorizedForSigner, type SignerVerb } from "./signer-rights.ts";

interface CertificateNeeds {
  /** The whole authorizer chain. */
  readonly authorize: Authorizer;
  /** Whether a feature gate is on. */
  enabled(gate: string): boolean;
}

/** @returns the four plugins in the order in which they run */
export function certificatePlugins(needs: CertificateNeeds): AdmissionPlugin[] {
  return [approval(needs), signing(needs), trustBundleAttest(needs), subjectRestriction];
}

function isResource({ target }: AdmissionAttributes, resource: string): boolean {
  const { definition } = target.resource;
  return definition.group === "certificates.k8s.io" && definition.resource === resource;
}

/** Checks the signer of the stored object: an approval cannot change it. */
function approval({ authorize }: CertificateNeeds): AdmissionPlugin {
  return {
    name: "CertificateApproval",
    validate(attributes) {
      if (
        !isResource(attributes, "certificatesigningrequests") ||
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
        !isResource(attributes, "certificatesigningrequests") ||
        attributes.subresource !== "status" ||
        attributes.operation !== "UPDATE"
      )
        return;
      if (sameField(attributes, "status.certificate") && sameField(attributes, "status.conditions")) return;
      return checkSigner(authorize, attributes, "sign", attributes.oldObject);
    },
  };
}

const actions: Readonly<Record<SignerVerb, string>> = {
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
  if (await isAuthorizedForSigner(authorize, attributes.user, verb, signerName)) return;
  throw rejection(attributes, `user not permitted to ${actions[verb]} ${quoteGo(signerName)}`);
}

/**
 * The garbage collector can change owners and finalizers of bundles without the permission to
 * attest for their signers.
 */
function trustBundleAttest({ authorize, enabled }: CertificateNeeds): AdmissionPlugin {
  return {
    name: "ClusterTrustBundleAttest",
    validate(attributes) {
      const { operation, object } = attributes;
      if (
        !isResource(attributes, "clustertrustbundles") ||
        (operation !== "CREATE" && operation !== "UPDATE") ||
        !enabled("ClusterTrustBundle")
      )
        return;
      if (
        (object?.spec?.signerName ?? "") === "" ||
        (operation === "UPDATE" && changesOnlyOwnersAndFinalizers(attributes))
      )
        return;
      return checkSigner(authorize, attributes, "attest", object);
    },
  };
}

function changesOnlyOwnersAndFinalizers({ target, object, oldObject }: AdmissionAttributes): boolean {
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
    if (!isResource(attributes, "certificatesigningrequests") || subresource !== "" || operation !== "CREATE") return;
    if (object?.spec?.signerName === clientSigner) return checkSubject(attributes, object.spec.request ?? "");
  },
};

async function checkSubject(attributes: AdmissionAttributes, request: string): Promise<void> {
  const parsed = await parseRequestField(request);
  if ("problem" in parsed) throw rejection(attributes, `failed to parse CSR: ${parsed.problem}`);
  if (!parsed.subject.organizations.includes("system:masters")) return;
  throw rejection(attributes, `use of ${clientSigner} signer with system:masters group is not allowed`);
}
