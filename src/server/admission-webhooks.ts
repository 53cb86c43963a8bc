/** Builds the plugins of admission webhooks. */
import { randomUUID } from "node:crypto";
import type { ManifestPlugin, StaticKind, StaticManifests } from "../admission/config/contract.ts";
import { followConfigurations } from "../admission/configurations.ts";
import type { AdmissionPlugin } from "../admission/contract.ts";
import type { Matching } from "../admission/matching/matcher.ts";
import type { VersionedObjects } from "../admission/matching/versioned.ts";
import { compileConfiguration, releaseConfiguration } from "../admission/webhooks/configuration.ts";
import type { Configuration, WebhookObserver, WebhookType } from "../admission/webhooks/contract.ts";
import { mutatingWebhooks } from "../admission/webhooks/mutating.ts";
import { manifestWebhooks, type WebhookSource, webhookSource } from "../admission/webhooks/source.ts";
import { type DispatchNeeds, validatingWebhooks } from "../admission/webhooks/validating.ts";
import type { KubeObject } from "../apimachinery/object.ts";
import type { Catalog } from "../catalog/contract.ts";
import { webhookMetrics } from "../metrics/webhook-metrics.ts";
import type { ReviewObserver } from "../request/webhook-review.ts";
import type { LoopbackCredentials } from "../webhook/contract.ts";
import { type SharedClients, sharedClients } from "../webhook/shared-clients.ts";
import { selfAddress } from "./addresses.ts";
import type { ServerAuthorization } from "./authorization.ts";
import type { Closers } from "./closers.ts";
import type { ServerMetrics } from "./metrics.ts";
import type { ServerOptions } from "./options.ts";
import type { Settings } from "./settings.ts";
import type { ServerState } from "./state.ts";
import { serviceResolver } from "./webhooks.ts";

interface Needs {
  readonly catalog: Catalog;
  readonly authorization: Pick<ServerAuthorization, "authorize">;
  readonly manifests: ReadonlyMap<ManifestPlugin, StaticManifests>;
  readonly matching: Matching;
  readonly versioned: VersionedObjects;
  readonly state: Pick<ServerState, "port">;
  readonly loopback: LoopbackCredentials;
  readonly reviewed?: ReviewObserver | undefined;
  readonly metrics: Pick<ServerMetrics, "add" | "calls" | "policies">;
  readonly closers: Closers;
}

interface Plugin {
  readonly plugin: ManifestPlugin;
  readonly kind: StaticKind;
  readonly resource: string;
  readonly type: WebhookType;
}

const mutating: Plugin = {
  plugin: "MutatingAdmissionWebhook",
  kind: "MutatingWebhookConfiguration",
  resource: "mutatingwebhookconfigurations",
  type: "admit",
};
const validating: Plugin = {
  plugin: "ValidatingAdmissionWebhook",
  kind: "ValidatingWebhookConfiguration",
  resource: "validatingwebhookconfigurations",
  type: "validating",
};

/** Opens MutatingAdmissionWebhook and ValidatingAdmissionWebhook. */
export function openAdmissionWebhooks(options: ServerOptions, settings: Settings, needs: Needs): AdmissionPlugin[] {
  const { observer, collect } = webhookMetrics();
  needs.metrics.add(collect);
  const dispatch = (plugin: Plugin): DispatchNeeds => {
    const clients = openClients(plugin, options, settings, needs);
    return dispatchNeeds(webhooksOf(plugin, clients, needs), observer, options, needs);
  };
  return [mutatingWebhooks(dispatch(mutating)), validatingWebhooks(dispatch(validating))];
}

/** The size of a response. A patch can contain a whole object. */
const answerBytesMax = 8 << 20;

function openClients(
  { plugin }: Plugin,
  options: ServerOptions,
  { admissionConfigurations }: Settings,
  { catalog, state, loopback, metrics, closers }: Needs,
): SharedClients {
  const resolve = serviceResolver(options, { catalog, self: () => selfAddress(options, state) });
  const { findCredentials = async () => ({}) } = admissionConfigurations[plugin] ?? {};
  const clients = sharedClients({
    resolve,
    loopback,
    findCredentials,
    calls: metrics.calls,
    answerBytesMax,
    traced: true,
  });
  closers.add(() => clients.close());
  return clients;
}

function dispatchNeeds(
  webhooks: WebhookSource,
  observer: WebhookObserver,
  { clock, logger }: ServerOptions,
  { catalog, versioned, reviewed }: Needs,
): DispatchNeeds {
  const elapsed = (): number => performance.now();
  return {
    webhooks,
    catalog,
    versioned,
    observer,
    reviewed,
    logger,
    elapsed,
    now: () => clock.now(),
    newUid: randomUUID,
  };
}

function webhooksOf({ plugin, kind, resource, type }: Plugin, clients: SharedClients, needs: Needs): WebhookSource {
  const { catalog, authorization, manifests, matching, metrics } = needs;
  const compileNeeds: Parameters<typeof compileConfiguration>[1] = {
    matching,
    clients,
    type,
    async openConditions(spec) {
      const { openConditions } = await import("./policy-expressions.ts");
      const { authorize } = authorization;
      return openConditions(spec, { authorize, observer: metrics.policies, elapsed: () => performance.now() });
    },
  };
  const compile = (object: KubeObject): Configuration => compileConfiguration(object, compileNeeds);
  const own = manifests.get(plugin);
  const ofManifests =
    own && manifestWebhooks({ objects: () => own.current(kind), compile, release: releaseConfiguration });
  return webhookSource(followConfigurations(catalog, resource, compile, releaseConfiguration), ofManifests);
}
