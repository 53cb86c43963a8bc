/** What kube-apiserver answers to writes of the networking kinds, and what we do. */
import { replayWrites } from "../../../test/support/memory-writes.ts";

for (const kind of ["ingress-classes", "ingresses", "ip-addresses", "network-policies", "service-cidrs"]) {
  replayWrites(`${import.meta.dirname}/testdata/${kind}.json.gz`);
}
