/** The parts of the test kit that a server carries: its timeline, its faults and its control paths. */
import type { RequestContext, RequestExtension, RequestProbe } from "../http/contract.ts";
import type { WatchStreamOptions } from "../http/endpoints/watch-stream.ts";
import type { ObjectChange, RegistryContext } from "../registry/contract.ts";
import type { ServerOptions } from "../server/options.ts";
import { certificateRoutes } from "./control/certificate-routes.ts";
import { clockPath, clockRoutes } from "./control/clock-routes.ts";
import type { ControlRoute } from "./control/contract.ts";
import { faultRoutes } from "./control/fault-routes.ts";
import { installRoutes } from "./control/install-routes.ts";
import { controlPaths, controlPrefix } from "./control/serve-control.ts";
import { type SnapshotMethods, snapshotRoutes } from "./control/snapshot-routes.ts";
import { timelineRoute } from "./control/timeline-route.ts";
import { webhookRoutes } from "./control/webhook-routes.ts";
import type { ResourceNames } from "./faults/check-possible.ts";
import type { Faults } from "./faults/contract.ts";
import { type OpenFaults, openFaults } from "./faults/faults.ts";
import { overriding } from "./overriding.ts";
import { type RestoreGate, restoreGate } from "./snapshots/restore-gate.ts";
import type { Timeline, TimelineLimits } from "./timeline/contract.ts";
import type { RequestRecord } from "./timeline/request-record.ts";
import { type OpenTimeline, openTimeline } from "./timeline/timeline.ts";
import type { TestTools } from "./tools.ts";

/** Options of the test kit. */
export interface KitOptions {
  /** The limits of the timeline. */
  readonly timeline?: TimelineLimits;
  /** Whether clients can control the server by paths under `/testing/`; false by default. */
  readonly control?: boolean;
}

/** What control paths need of a server that has started. */
export interface StartedServer {
  readonly snapshots: SnapshotMethods | undefined;
  readonly tools: TestTools;
  /** Returns the resources that it has now. */
  readonly resources: () => readonly ResourceNames[];
}

/** What {@link openKit} creates. */
export interface Kit {
  /** Of the server that carries the kit. */
  readonly extension: RequestExtension;
  readonly timeline: Timeline;
  readonly faults: Faults;
  /** Restores of the server must run in it. */
  readonly gate: RestoreGate;
  /**
   * Must be called when the server has started: writes of the start are not recorded.
   * @param server its snapshots are undefined when it has none
   */
  started(server: StartedServer): void;
}

/** Creates the kit of one server. */
export function openKit({ clock, logger }: Pick<ServerOptions, "clock" | "logger">, options: KitOptions): Kit {
  const timeline = openTimeline(clock, options.timeline);
  let resources: StartedServer["resources"] = () => [];
  const faults = openFaults({ clock, logger, timeline, resources: () => resources() });
  const gate = restoreGate();
  const routes: ControlRoute[] = [timelineRoute(timeline), ...clockRoutes(clock, timeline), ...faultRoutes(faults)];
  let hasStarted = false;
  return {
    timeline,
    faults,
    gate,
    started({ snapshots, tools, resources: current }) {
      hasStarted = true;
      resources = current;
      if (snapshots !== undefined) routes.push(...snapshotRoutes(snapshots));
      routes.push(...certificateRoutes(tools), ...webhookRoutes(tools), ...installRoutes(tools));
    },
    extension: {
      ready: (context) => (isControl(context) ? undefined : gate.idle()),
      probe(context) {
        if (!isControl(context)) return probeOf(context, { timeline, faults, gate });
        // It moves the time by which its own limit would be measured.
        if (context.info.path === `${controlPrefix}${clockPath}`) context.hasNoTimeLimit = true;
        return undefined;
      },
      changed(change) {
        faults.changed(change);
        if (hasStarted) timeline.wrote(change);
      },
      decide: () => gate.decide(),
      reviewed: (review) => timeline.reviewed(review),
      stopping: () => faults.clear(),
      routes: options.control === true ? controlPaths(routes) : [],
    },
  };
}

const isControl = ({ info }: RequestContext): boolean => info.path.startsWith(controlPrefix);

interface Parts {
  readonly timeline: OpenTimeline;
  readonly faults: OpenFaults;
  readonly gate: RestoreGate;
}

function probeOf(context: RequestContext, { timeline, faults, gate }: Parts): RequestProbe {
  const record = timeline.begin(context);
  const decision = gate.decide(context.info);
  let served: RegistryContext | undefined;
  return {
    get registry() {
      return served;
    },
    async enter(_context, registry) {
      const changed = (change: ObjectChange): void => {
        faults.changed(change);
        timeline.changed(record, change);
      };
      served = await faults.enter(context, { ...registry, changed, decision }, record);
    },
    watch: (options) => faults.watch(context, recordedWatch(options, record, timeline), record),
    failed: (status) => record.failed(status),
  };
}

function recordedWatch(options: WatchStreamOptions, record: RequestRecord, timeline: OpenTimeline): WatchStreamOptions {
  const { stream } = options;
  record.watchStarted();
  return {
    ...options,
    stream: overriding(stream, {
      end() {
        timeline.ended(record);
        stream.end();
      },
    }),
    sent(sizes) {
      record.sent(sizes.length);
      options.sent(sizes);
    },
  };
}
