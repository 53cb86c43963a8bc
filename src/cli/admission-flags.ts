/** The flags of admission. Names and defaults are kube-apiserver's. */
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
    help: "Admission plugins that run beside those that do by default (NamespaceLifecycle, CertificateApproval, CertificateSigning, ClusterTrustBundleAttest, CertificateSubjectRestriction), with commas between, in any order: NodeRestriction. Those that kube-apiserver has on by default and that are missing here have no effect.",
    set: add("enable"),
  },
  {
    term: "--disable-admission-plugins <names>",
    help: "Admission plugins that do not run although they do by default (NamespaceLifecycle, CertificateApproval, CertificateSigning, ClusterTrustBundleAttest, CertificateSubjectRestriction), with commas between.",
    set: add("disable"),
  },
];
