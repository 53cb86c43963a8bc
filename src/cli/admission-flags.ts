/** Admission flags. Names and defaults are kube-apiserver's. */
import type { AdmissionOptions } from "../admission/contract.ts";
import { stringSlice } from "./flag-values.ts";
import type { Flag } from "./flags.ts";

const add =
  (which: keyof AdmissionOptions): Flag["set"] =>
  (text, { server }) => {
    server.admission = { ...server.admission, [which]: [...server.admission[which], ...stringSlice(text)] };
  };

export const admissionFlags: readonly Flag[] = [
  {
    term: "--enable-admission-plugins <names>",
    help: "Comma-separated list of admission plugins to run in addition to the default ones (NamespaceLifecycle, CertificateApproval, CertificateSigning, ClusterTrustBundleAttest, CertificateSubjectRestriction), in any order: NodeRestriction. Other default plugins of kube-apiserver are accepted without effect.",
    set: add("enable"),
  },
  {
    term: "--disable-admission-plugins <names>",
    help: "Comma-separated list of default admission plugins to disable (NamespaceLifecycle, CertificateApproval, CertificateSigning, ClusterTrustBundleAttest, CertificateSubjectRestriction).",
    set: add("disable"),
  },
];
