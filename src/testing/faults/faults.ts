/** Applies the rules to requests and watches. */
import type { Clock } from "../../apimachinery/clock.ts";
import { expired } from "../../apimachinery/errors.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import { loopbackUser } from "../../apimachinery/system-user.ts";
import type { RequestContext } from "../../http/contract.ts";
import type { WatchStreamOptions } from "../../http/endpoints/watch-stream.ts";
import type { ObjectChange, RegistryContext } from "../../registry/contract.ts";
import type { RequestRecord } from "../timeline/request-record.ts";
import type { OpenTimeline } from "../timeline/timeline.ts";
import { applyFault } from "./apply-fault.ts";
import type { ResourceNames } from "./check-possible.ts";
import type { Faults } from "./contract.ts";
import { Delays } from "./delays.ts";
import { type ActiveRule, openRules, type Rules } from "./rules.ts";
import { ChangeHistory } from "./stale-read.ts";
import { WatchValve } from "./watch-valve.ts";

/** The faults of a server, and what applies them. */
export interface OpenFaults extends Faults, Pick<Rules, "check"> {
  /**
   * Called before the endpoint.
   * @returns the registry that serves the request
   * @throws ApiError to answer with it instead
   */
  enter(context: RequestContext, registry: RegistryContext, record: RequestRecord): Promise<RegistryContext>;
  /** Called when a watch starts. */
  watch(context: RequestContext, options: WatchStreamOptions, record: RequestRecord): WatchStreamOptions;
  /** Called for each change of an object. */
  changed(change: ObjectChange): void;
}

interface Needs {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly timeline: OpenTimeline;
  /** Returns the resources that the server has now. */
  readonly resources: () => readonly ResourceNames[];
}

/** Creates the faults of a server, without rules. */
export function openFaults({ clock, logger, timeline, resources }: Needs): OpenFaults {
  const history = new ChangeHistory(clock);
  const delays = new Delays(clock);
  const valves = new Map<WatchValve, RequestRecord>();
  /** Rules of watches that have not started yet. */
  const ofWatches = new WeakMap<RequestContext, ActiveRule>();
  const rules = openRules(
    {
      added: (rule) => timeline.fault({ action: "added", rule: rule.id, text: textOf(rule) }),
      removed(rule) {
        timeline.fault({ action: "removed", rule: rule.id, text: `after ${rule.hits} hits` });
        for (const valve of valves.keys()) if (valve.rule === rule) valve.release();
        delays.release(rule);
      },
    },
    resources,
  );
  const hit = (rule: ActiveRule, { exchange, info }: RequestContext, record: RequestRecord): void => {
    record.fault = `${rule.id} ${rule.fault.type}`;
    const text = `${rule.fault.type} for ${exchange.method} ${info.path}`;
    timeline.fault({ action: "hit", rule: rule.id, text: text.slice(0, textMax) });
  };

  return {
    ...rules,
    add(rule, fault) {
      const handle = rules.add(rule, fault);
      for (const [valve, record] of valves) {
        if (valve.rule !== undefined) continue;
        const taken = rules.take(valve.context, (one) => one === handle && appliesToOpenWatches(one));
        if (taken === undefined) continue;
        hit(taken, valve.context, record);
        valve.apply(taken);
      }
      return handle;
    },
    async enter(context, registry, record) {
      const rule = isExempt(context) ? undefined : rules.take(context);
      if (rule === undefined) return registry;
      hit(rule, context, record);
      if (appliesToOpenWatches(rule) || (rule.fault.type === "gone" && context.info.verb === "watch")) {
        ofWatches.set(context, rule);
        return registry;
      }
      return applyFault(rule, context, registry, { delays, logger, history });
    },
    watch(context, options, record) {
      const rule = ofWatches.get(context);
      if (rule?.fault.type === "gone")
        return { ...options, startError: expired(`too old resource version: ${options.plan.from} (fault ${rule.id})`) };
      const valve = new WatchValve(context, options);
      valves.set(valve, record);
      context.exchange.onClose(() => valves.delete(valve));
      if (rule !== undefined && !rule.isRemoved) valve.apply(rule);
      return valve.around(options);
    },
    changed: (change) => history.add(change),
  };
}

const textMax = 500;

function textOf({ rule, fault: { type, ...options } }: ActiveRule): string {
  return `${type} ${JSON.stringify(options)} for ${JSON.stringify(rule)}`.slice(0, textMax);
}

function appliesToOpenWatches({ fault: { type } }: ActiveRule): boolean {
  return type === "cutWatch" || type === "stallWatch" || type === "missingBookmark";
}

/** Health checks, and the server's own requests. */
function isExempt({ info, user }: RequestContext): boolean {
  return user.name === loopbackUser.name || /^\/(?:livez|readyz|healthz)(?:\/|$)/.test(info.path);
}
