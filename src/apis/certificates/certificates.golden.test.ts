/**
 * Replays writes of ClusterTrustBundles and PodCertificateRequests against the answers of
 * kube-apiserver.
 */
import { replayWrites } from "../../../test/support/memory-writes.ts";

const featureGates = "ClusterTrustBundle=true,PodCertificateRequest=true";
for (const kind of ["cluster-trust-bundles", "pod-certificate-requests"]) {
  replayWrites(`${import.meta.dirname}/testdata/${kind}.json.gz`, {
    allVersionsOf: ["certificates.k8s.io"],
    featureGates,
  });
}
