/** Flags of flow control. Names and defaults are kube-apiserver's. */
import { boolValue, FlagValueError, integerWithin } from "./flag-values.ts";
import type { Flag } from "./flags.ts";

const chanceMax = 0.02;

function requestCount(text: string): number {
  const count = integerWithin(text, { min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER });
  if (count < 0) throw new FlagValueError("can not be negative value");
  return count;
}

function goawayChance(text: string): number {
  const chance = Number(text);
  if (text.trim() === "" || Number.isNaN(chance))
    throw new FlagValueError(`strconv.ParseFloat: parsing ${JSON.stringify(text)}: invalid syntax`);
  if (chance < 0 || chance > chanceMax) throw new FlagValueError("can not be less than 0 or greater than 0.02");
  return chance;
}

export const flowControlFlags: readonly Flag[] = [
  {
    term: "--enable-priority-and-fairness [bool]",
    help: "Limits requests by priority levels and flow schemas. Otherwise only --max-requests-inflight and --max-mutating-requests-inflight limit them.",
    shown: "true",
    set: (text, { server }) => {
      server.enablePriorityAndFairness = boolValue(text);
    },
  },
  {
    term: "--max-requests-inflight <int>",
    help: "This and --max-mutating-requests-inflight are added up to the number of requests that the server executes at once, if --enable-priority-and-fairness is true. Otherwise it is the limit of non-mutating requests; 0 disables it.",
    shown: "400",
    set: (text, { server }) => {
      server.maxRequestsInflight = requestCount(text);
    },
  },
  {
    term: "--max-mutating-requests-inflight <int>",
    help: "As --max-requests-inflight, for mutating requests.",
    shown: "200",
    set: (text, { server }) => {
      server.maxMutatingRequestsInflight = requestCount(text);
    },
  },
  {
    term: "--goaway-chance <float>",
    help: "Probability, up to 0.02, that a request over HTTP/2 closes its connection after the open requests, so that clients connect to another server behind a load balancer.",
    shown: "0",
    set: (text, { server }) => {
      server.goawayChance = goawayChance(text);
    },
  },
];
