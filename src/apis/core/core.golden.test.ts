/**
 * Replays writes of core kinds that were recorded from kube-apiserver. Admission plugins
 * that change these objects were disabled.
 */

import type { MemoryRegistryOptions } from "../../../test/support/memory-registry.ts";
import { replayWrites } from "../../../test/support/memory-writes.ts";

const kinds = [
  ...[
    "config-maps",
    "core-events",
    "endpoints",
    "events",
    "limit-ranges",
    "namespaces",
    "nodes",
    "persistent-volume-claims",
    "persistent-volumes",
  ],
  ...["pod-templates", "replication-controllers", "resource-quotas", "secrets", "service-accounts"],
];
const fileOf = (kind: string): string => `${import.meta.dirname}/testdata/${kind}.json.gz`;

for (const kind of kinds) replayWrites(fileOf(kind));

const withAddresses = (ranges: string): MemoryRegistryOptions => ({ services: { ranges } });

for (const kind of ["service-creations", "service-updates"]) replayWrites(fileOf(kind), withAddresses("10.0.0.0/24"));
for (const kind of ["service-dual-stack-creations", "service-dual-stack-updates"]) {
  replayWrites(fileOf(kind), withAddresses("10.0.0.0/24,fd00:10::/112"));
}
