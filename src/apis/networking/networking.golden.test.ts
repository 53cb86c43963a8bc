/** Compares the answers to writes of networking kinds with those of kube-apiserver. */
import { replayWrites } from "../../../test/support/memory-writes.ts";

for (const kind of ["ingress-classes", "ingresses", "ip-addresses", "network-policies", "service-cidrs"]) {
  replayWrites(`${import.meta.dirname}/testdata/${kind}.json.gz`);
}
