/** Composition root: builds each part of a server from the ones before it. The builders are in server/. */
import { guardedClock } from "../apimachinery/guarded-clock.ts";
import { pooledRandom } from "../apimachinery/random.ts";
import { openAudit } from "../audit/open-audit.ts";
import type { RequestExtension } from "../http/contract.ts";
import { addressAt, type IpRange } from "../lib/ip-range/ip-range.ts";
import { callMetrics } from "../metrics/call-metrics.ts";
import { etcdMetrics } from "../metrics/etcd-metrics.ts";
import { unexpectedErrors } from "../metrics/unexpected-errors.ts";
import type { RegistryContext } from "../registry/contract.ts";
import type { Storage } from "../storage/contract.ts";
import { certificateNames } from "./addresses.ts";
import { openAdmission } from "./admission.ts";
import { openAggregation } from "./aggregation.ts";
import { announce } from "./announce.ts";
import { openAuthentication } from "./authentication.ts";
import { denialFinder, openAuthorization } from "./authorization.ts";
import { ensureBootObjects } from "./bootstrap.ts";
import { openServerCatalog } from "./catalog.ts";
import { checkCaches } from "./check-caches.ts";
import { Closers } from "./closers.ts";
import { startControllers } from "./controllers.ts";
import { warnOfWritableDirectories } from "./data-directory.ts";
import { openFlowControl } from "./flow-control.ts";
import { openHttp } from "./http.ts";
import { loadCaches } from "./load-caches.ts";
import { loopbackCredentials } from "./loopback.ts";
import { openMetrics } from "./metrics.ts";
import { countObjects } from "./object-counts.ts";
import type { RunningServer, ServerOptions } from "./options.ts";
import { identityOf, openPeers } from "./peers.ts";
import { type ServingSetup, servingSetup } from "./serving/serving-setup.ts";
import { readSettings } from "./settings.ts";
import { runningServer } from "./shutdown.ts";
import { openSnapshots, type ServerSnapshot, type ServerSnapshots } from "./snapshots.ts";
import { newState } from "./state.ts";
import { openStorage, sharedEncoding } from "./storage.ts";
import { openServerTracing } from "./tracing.ts";
import { validationObserver } from "./validation.ts";

export type { RestoreSteps, ServerKeys, ServerSnapshot, ServerSnapshots } from "./snapshots.ts";

/** What the test kit replaces in a server, or adds to it. */
export interface ServerExtensions {
  /**
   * The store, instead of the one of `storage`: tests of several servers over one store. The caller
   * closes it.
   */
  readonly storage?: Storage;
  /** Observes and changes requests. Without it, requests pay nothing. */
  readonly requests?: RequestExtension;
  /** What a server whose store is in memory begins with. */
  readonly snapshot?: ServerSnapshot;
}

/** A running server, and the parts of it that the test kit uses. */
export interface OpenServer {
  readonly running: RunningServer;
  readonly registry: RegistryContext;
  /** Its certificates, and the authority that signs those of clients. */
  readonly serving: ServingSetup;
  /** Undefined unless the server has a store in memory. */
  readonly snapshots: ServerSnapshots | undefined;
  /** Resolves when the stored CustomResourceDefinitions that the watch cache has are served, as they are now. */
  definitionsServed(): Promise<void>;
  /** From now on, the server does not hold the process. */
  unref(): void;
}

/** The longest interval of Node's timers. */
const holdMs = 2 ** 31 - 1;

/** @throws Error when an option is not valid, the port is taken, or the data directory is in use */
export async function openServer(options: ServerOptions, extensions: ServerExtensions = {}): Promise<OpenServer> {
  const closers = new Closers();
  // Timers of the server let the process end, also those by which a start waits, for instance for etcd.
  const hold = setInterval(() => {}, holdMs);
  try {
    return await buildServer(options, closers, extensions);
  } catch (error) {
    await closers.close();
    throw error;
  } finally {
    clearInterval(hold);
  }
}

async function buildServer(given: ServerOptions, closers: Closers, own: ServerExtensions): Promise<OpenServer> {
  const { logger } = given;
  const unexpected = unexpectedErrors(logger);
  const options = { ...given, clock: guardedClock(given.clock, unexpected.ofTimer) };
  const { clock } = options;
  const settings = await readSettings(options);
  const { gates } = settings;

  const calls = callMetrics();
  const etcd = etcdMetrics(() => performance.now());
  const audit = await openAudit(options.audit, { clock, logger, calls: calls.observer });
  closers.add(() => audit.close());

  // Storage locks the data directory, in which the next step may renew certificates.
  const store = { gates, etcd, closers, unexpected };
  const { storage, installer, isShared, memory, encryption } = await openStorage(options, store, own);
  warnOfWritableDirectories(options);
  const state = newState(options, isShared);
  state.stopHooks.push(async () => storage.stopWaiting?.());
  state.stopHooks.push(async () => own.requests?.stopping());
  const names = certificateNames(options, addressAt(settings.serviceRanges[0] as IpRange, 1));
  const serving = await servingSetup({ ...options, kept: own.snapshot?.keys.certificates }, names);
  closers.add(() => serving.close());
  const loopback = loopbackCredentials(serving);

  const catalog = openServerCatalog(options, settings, installer);
  const objectCounts = countObjects(options, { catalog, storage, started: state.started, closers });
  const counted = { audit: audit.counts, calls, etcd, objectCounts, unexpected, engine: options.storage };
  const metrics = openMetrics(settings.metrics, { ...counted, storage, installer, catalog, clock, gates });
  const decides = { catalog, clock, gates, identity: identityOf(options), logger, metrics, closers };
  const authorization = await openAuthorization(settings.authorization, decides);
  const random = pooledRandom();
  const reviewed = own.requests?.reviewed;
  const admits = {
    catalog,
    random,
    registry: () => registry,
    authorization,
    state,
    loopback,
    reviewed,
    metrics,
    closers,
  };
  const registry: RegistryContext = {
    storage,
    catalog,
    clock,
    gates,
    forbidsPrivileged: !options.allowPrivileged,
    keepsDependents: !options.enableGarbageCollector,
    admission: await openAdmission(options, settings, admits),
    validation: validationObserver(metrics.validation, logger),
    findDenial: denialFinder(authorization.authorize),
    ...(isShared && { sharedEncoding: sharedEncoding(options, gates) }),
    ...(own.requests !== undefined && { changed: own.requests.changed, decide: own.requests.decide }),
    recordOwn: audit.recordOwn,
    random,
  };
  const security = { authorization, serving, loopback, state, metrics, closers };
  const authenticates = { registry, serviceAccountKey: own.snapshot?.keys.serviceAccountKey, ...security };
  const authentication = await openAuthentication(settings.authentication, options, authenticates);

  const aggregation = await openAggregation(options, { registry, state, metrics, closers });
  const peers = await openPeers(options, { registry, aggregation, metrics, closers });
  const flowControl = openFlowControl(options, { registry, metrics });
  if (encryption !== undefined) metrics.add(encryption.collect);
  const served = {
    tracing: await openServerTracing(options, { gates, metrics, closers }),
    registry,
    audit,
    authentication,
    aggregation,
    peers,
    flowControl,
    encryption,
    extension: own.requests,
  };
  const { allowedOrigins } = settings;
  const http = await openHttp(options, { ...served, ...security, allowedOrigins });
  const serviceAddresses = await ensureBootObjects(options, { registry, settings, ...security, ...own });
  loadCaches(options, { gates, catalog, state, closers });
  checkCaches(options, { registry, installer, state, closers });
  const definitions = await startControllers(settings.controllers, options, {
    ...{ registry, serviceAddresses, catalog, aggregation, flowControl },
    listener: http.listener,
    release: installer.release,
    issueForSecret: authentication.issueForSecret,
    reviewed,
    ...security,
  });
  const service = await announce(options, { registry, tokenKeys: authentication.tokenKeys, state, closers });
  const snapshots = openSnapshots({ memory, installer, http, definitions, service, authentication, ...security, own });
  const running = await runningServer(options, { http, serving, state, closers });
  runNextTurn(state.reportStarted, closers);
  return {
    running,
    registry,
    serving,
    snapshots,
    definitionsServed: () => definitions.settled(),
    unref: http.listener.unref,
  };
}

/** Runs a function in the next turn of the event loop, unless the server is closed before. */
function runNextTurn(run: () => void, closers: Closers): void {
  const turn = setImmediate(run);
  closers.add(() => clearImmediate(turn));
}
