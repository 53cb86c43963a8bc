/** All flags of the server. */
import { admissionFlags, authorizationFlags } from "./access-flags.ts";
import { authenticationFlags } from "./authentication-flags.ts";
import { apiFlags, kubeletFlags, leaderElectionFlags } from "./cluster-flags.ts";
import type { FlagGroup } from "./contract.ts";
import { ignoredFlags } from "./ignored-flags.ts";
import { logFlags } from "./log-flags.ts";
import { genericFlags, miscFlags } from "./process-flags.ts";
import { auditFlags, metricsFlags } from "./report-flags.ts";
import { flowControlFlags, servingFlags } from "./serving-flags.ts";
import { etcdFlags, storageFlags } from "./storage-flags.ts";
import { versionFlags } from "./version-flags.ts";

/** In the order of `--help`. */
export const flagGroups: readonly FlagGroup[] = [
  ["Secure serving flags", servingFlags],
  ["Flags of etcd", etcdFlags],
  ["Storage flags", storageFlags],
  ["Authentication flags", authenticationFlags],
  ["Authorization flags", authorizationFlags],
  ["Auditing flags", auditFlags],
  ["Metrics flags", metricsFlags],
  ["API enablement flags", [...apiFlags, ...versionFlags]],
  ["Leader election flags", leaderElectionFlags],
  ["Kubelet flags", kubeletFlags],
  ["Admission flags", admissionFlags],
  ["Flow control flags", flowControlFlags],
  ["Generic flags", genericFlags],
  ["Logs flags", logFlags],
  ["Misc flags", miscFlags],
  ["Ignored flags", ignoredFlags],
];
