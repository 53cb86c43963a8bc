/** What the server finds for a request, the endpoints that serve it, and what a test kit adds. */
import type { Status } from "../apimachinery/errors.ts";
import type { Resolved } from "../catalog/contract.ts";
import type { Decision, ObjectChange, RegistryContext } from "../registry/contract.ts";
import type { PathRoute, RequestState } from "../request/context.ts";
import type { Exchange } from "../request/exchange.ts";
import type { RequestStage } from "../request/stages.ts";
import type { ReviewObserver } from "../request/webhook-review.ts";
import type { WatchStreamOptions } from "./endpoints/watch-stream.ts";
import type { Encoding } from "./representation/contract.ts";

/** The form of the response, from `Accept` and `pretty`. */
export interface Representation {
  readonly shape: Shape;
  readonly encoding: Encoding;
}

/** The parts of objects that a response contains. */
export type Shape =
  | { readonly kind: "object" }
  | {
      readonly kind: "table";
      readonly version: "v1" | "v1beta1";
      readonly includeObject: "None" | "Metadata" | "Object";
    }
  /** `list`: whether the client requested PartialObjectMetadataList. */
  | { readonly kind: "metadata"; readonly version: "v1" | "v1beta1"; readonly list: boolean };

/** A request with what the server has found for it. */
export interface RequestContext extends RequestState {
  /** Set when the path was found in the catalog. */
  resolved: Resolved | undefined;
  /** The encodings of this server; the first is the default. */
  readonly encodings: readonly Encoding[];
  /** The form of the response; set when the path was found. */
  representation: Representation;
  /** Observes the request and changes how it is served; only servers with a test kit set it. */
  probe?: RequestProbe | undefined;
}

/** Serves one verb of resources. */
export type Endpoint = (context: RequestContext, registry: RegistryContext) => void | Promise<void>;

/** The endpoints of a server. */
export interface ResourceEndpoints {
  /** By verb: get list watch create update patch delete deletecollection. */
  readonly verbs: Readonly<Record<string, Endpoint>>;
  /**
   * Endpoints by verb for resources whose objects are computed instead of stored, by
   * `group/resource`.
   */
  readonly computed: Readonly<Record<string, Readonly<Record<string, Endpoint>>>>;
  /** Endpoints of subresources with special behavior, by `group/resource/subresource`. */
  readonly subresources: Readonly<Record<string, Endpoint>>;
}

/** What the test kit adds to the requests of all clients. */
export interface RequestExtension {
  /** Requests wait for it before all filters; undefined: they need not wait. */
  ready(context: RequestContext): Promise<void> | undefined;
  /** Called for each request before all other filters. */
  probe(context: RequestContext): RequestProbe | undefined;
  /** Called for each change that the server itself commits; those of requests go to their registry. */
  changed(change: ObjectChange): void;
  /** Called when a controller begins to reconcile. */
  decide(): Decision;
  /** Called when a call of a webhook has ended. */
  readonly reviewed?: ReviewObserver;
  /** Called when the server stops: it waits for open requests then. */
  stopping(): void;
  /** Called at each stage of each request; what it throws is an unexpected error of that stage. */
  entered?(exchange: Exchange, stage: RequestStage): void;
  /** Served after authorization, as other paths. */
  readonly routes: readonly PathRoute<RequestContext>[];
}

/** What the test kit observes of one request, and how it changes it. */
export interface RequestProbe {
  /** Serves the request instead of the server's own. */
  readonly registry: RegistryContext | undefined;
  /**
   * Called after the filters, before the endpoint.
   * @param registry that of the server
   * @throws ApiError to answer with it instead
   */
  enter(context: RequestContext, registry: RegistryContext): void | Promise<void>;
  /** Called when a watch starts. @returns the options with which it runs */
  watch(options: WatchStreamOptions): WatchStreamOptions;
  /** The request is answered with an error. */
  failed(status: Status): void;
}
