/**
 * The spans of a verb, with the names, attributes and events of kube-apiserver, made from the stages that a request passes.
 * Sources: the files of the verbs and responsewriters/writers.go in k8s.io/apiserver@v0.36.0/pkg/endpoints/handlers, and
 * pkg/storage/etcd3/store.go and pkg/storage/cacher there.
 */
import { formatGroupVersion } from "../../apimachinery/object.ts";
import { type Span, type SpanAttributes, slowMs } from "../../apimachinery/spans.ts";
import type { Resolved, ResourceDefinition } from "../../catalog/contract.ts";
import type { RequestStage } from "../../request/stages.ts";
import type { RequestContext } from "../contract.ts";
import { verbAttributes } from "./request-attributes.ts";
import type { RequestSpans } from "./request-spans.ts";

/** Starts the span of a verb in that of the request. */
export type StartVerb = (name: string, attributes: SpanAttributes) => Span | undefined;

/** Responses and the start of watches are logged when they take longer. */
const slowResponseMs = 5_000;

const names: Readonly<Record<string, string>> = {
  create: "Create",
  get: "Get",
  list: "List",
  update: "Update",
  patch: "Patch",
  delete: "Delete",
  deletecollection: "Delete",
};

type Step = (spans: VerbSpans) => void;
type Steps = Readonly<Partial<Record<RequestStage, Step>>>;

const readBody: Step = (spans) => spans.event("limitedReadBody succeeded", spans.bodyLength);
const convert: Step = (spans) => {
  readBody(spans);
  spans.event("About to convert to expected version");
};
const store: Step = (spans) => {
  spans.event("Conversion done");
  spans.event("About to store object in database");
};
const encode: Step = (spans) => spans.storageEvent("About to Encode");
const encoded: Step = (spans) => {
  spans.storageEvent("Encode succeeded");
  spans.storageEvent("TransformToStorage succeeded");
};
const startUpdate: Step = (spans) => {
  spans.startStorage("GuaranteedUpdate");
  spans.storageEvent("initial value restored");
};

/** Of updates and patches. */
const replaced: Steps = {
  encode: (spans) => spans.startResponse(),
  store: encode,
  commit: (spans) => {
    encoded(spans);
    spans.storageEvent("Transaction prepared");
  },
  committed: (spans) => {
    spans.storageEvent("Txn call completed");
    spans.storageEvent("Transaction committed");
    spans.storageEvent("decode succeeded");
    spans.endStorage();
  },
};

const stepsOf: Readonly<Record<string, Steps>> = {
  create: {
    decode: convert,
    mutate: store,
    store: (spans) => {
      spans.startStorage("Create");
      encode(spans);
    },
    commit: encoded,
    committed: (spans) => {
      spans.storageEvent("Txn call succeeded");
      spans.storageEvent("decode succeeded");
      spans.endStorage();
    },
  },
  update: {
    ...replaced,
    decode: convert,
    mutate: (spans) => {
      store(spans);
      startUpdate(spans);
    },
  },
  patch: {
    ...replaced,
    decode: (spans) => {
      readBody(spans);
      spans.event("Recorded the audit event");
      spans.event("About to apply patch");
    },
    mutate: (spans) => {
      spans.event("About to check admission control");
      startUpdate(spans);
    },
  },
  delete: {
    decode: (spans) => {
      readBody(spans);
      spans.event("Decoded delete options");
      spans.event("Recorded the audit event");
      spans.event("About to delete object from database");
    },
  },
  deletecollection: { decode: readBody },
};

/** What a verb has done when its response begins. */
const successes: Readonly<Record<string, Step>> = {
  create: (spans) => spans.event("Write to database call succeeded", spans.bodyLength),
  update: (spans) => spans.event("Write to database call succeeded", spans.bodyLength),
  patch: (spans) => spans.event("Object stored in database"),
  delete: (spans) => spans.event("Object deleted from database"),
};

/** The spans of one request for a resource, from its route on. */
export class VerbSpans {
  readonly #context: RequestContext;
  readonly #spans: RequestSpans;
  /** Such as `etcd3`. */
  readonly #engine: string;
  readonly #steps: Steps;
  /** Repeated stages, such as those of an update that lost against another one, make no further events. */
  readonly #passed = new Set<RequestStage>();
  readonly #verb: Span | undefined;
  #read: Span | undefined;
  #storage: Span | undefined;
  #response: Span | undefined;
  /** In the store. */
  #key = "";
  #hasFailed = false;

  constructor(context: RequestContext, spans: RequestSpans, { start, engine }: { start: StartVerb; engine: string }) {
    this.#context = context;
    this.#spans = spans;
    this.#engine = engine;
    const { verb, query } = context.info;
    this.#steps = Object.hasOwn(stepsOf, verb) ? (stepsOf[verb] as Steps) : {};
    const isWatchList = verb === "watch" && query.get("sendInitialEvents") === "true";
    const name = isWatchList ? "WatchList" : Object.hasOwn(names, verb) ? names[verb] : undefined;
    if (name !== undefined) this.#verb = start(name, verbAttributes(context));
    if (verb === "get") this.event("About to Get from storage");
    this.#startRead();
  }

  /** Upstream's spans of its watch cache, which serves reads here, too. */
  #startRead(): void {
    const { verb, query } = this.#context.info;
    if (verb === "get") {
      const version = query.get("resourceVersion") ?? "";
      this.#read = this.#spans.start("cacher.Get", { ...this.#audited, "resource-version": version }, slowMs);
      this.#read?.addEvent(
        version === "" ? "About to Get from underlying storage" : "About to fetch object from cache",
      );
    } else if (verb === "list" || verb === "watch")
      this.#read = this.#spans.start(verb === "list" ? "cacher.GetList" : "cacher.Watch", this.#audited, slowMs);
  }

  get #audited(): SpanAttributes {
    return { "audit-id": this.#context.auditId };
  }

  get bodyLength(): SpanAttributes {
    return { len: Math.max(0, this.#context.exchange.receivedBytes) };
  }

  /** Adds an event to the span of the verb. */
  event(name: string, attributes?: SpanAttributes): void {
    this.#verb?.addEvent(name, attributes);
  }

  storageEvent(name: string): void {
    this.#storage?.addEvent(name);
  }

  /** The request enters a stage. @param key as of StageObserver */
  entered(stage: RequestStage, key?: string): void {
    if (this.#passed.has(stage)) return;
    if (key !== undefined) this.#key = withoutPrefix(key);
    this.#passed.add(stage);
    this.#steps[stage]?.(this);
    if (stage === "report error") this.#fail();
    else if (stage === "encode" || stage === "respond") this.startResponse();
    else if (stage === "start watch") this.#startWatch();
    else if (stage === "watch listed") this.#endWatchList();
    if (stage === "respond") this.#response?.addEvent("About to start writing response");
  }

  startStorage(operation: string): void {
    const { resolved, auditId } = this.#context;
    const { definition } = (resolved as Resolved).resource;
    const { group, resource } = definition;
    const attributes = { "audit-id": auditId, type: goType(definition), group, resource };
    this.#storage = this.#spans.start(`${operation} ${this.#engine}`, attributes, slowMs);
  }

  endStorage(): void {
    if (this.#storage === undefined) return;
    this.#storage.setAttributes({ key: this.#key });
    this.#spans.end(this.#storage);
    this.#storage = undefined;
  }

  #fail(): void {
    const { verb } = this.#context.info;
    if (this.#passed.has("mutate") && (verb === "create" || verb === "update"))
      this.event("Write to database call failed", this.bodyLength);
    this.#hasFailed = true;
    this.endStorage();
  }

  /** The response is being encoded. */
  startResponse(): void {
    if (this.#response !== undefined) return;
    this.#endRead();
    this.endStorage();
    const { verb } = this.#context.info;
    if (!this.#hasFailed && Object.hasOwn(successes, verb)) successes[verb]?.(this);
    this.event("About to write a response");
    const { mediaType } = this.#context.representation.encoding;
    this.#response = this.#spans.start("SerializeObject", this.#encoding(mediaType, ""), slowResponseMs);
  }

  #encoding(mediaType: string, raw: string): SpanAttributes {
    const { auditId, exchange, info } = this.#context;
    const { method, protocol } = exchange;
    const { pathname, encoder } = { pathname: info.path, encoder: encoderOf(this.#context, mediaType, raw) };
    return { "audit-id": auditId, method, url: pathname, protocol, mediaType, encoder };
  }

  #endRead(): void {
    const { resolved, info } = this.#context;
    if (this.#read === undefined) return;
    if (resolved !== undefined) {
      const { group, resource } = resolved.resource.definition;
      const type = group === "" ? resource : `${resource}.${group}`;
      const key = resolved.resource.store?.keyOf(info.namespace, info.name) ?? "";
      this.#read.setAttributes(info.verb === "get" ? { key: withoutPrefix(key) } : { type });
    }
    this.#spans.end(this.#read);
    this.#read = undefined;
  }

  #startWatch(): void {
    this.#endRead();
    const { encoding } = this.#context.representation;
    const mediaType = encoding.stream?.mediaType ?? encoding.mediaType;
    this.#response = this.#spans.start("WatchServer.HandleHTTP", this.#encoding(mediaType, "raw-"), slowResponseMs);
    this.#response?.addEvent("About to start writing response");
  }

  /** As in upstream, the spans of a watch end with its initial events. */
  #endWatchList(): void {
    this.#response?.addEvent("Writing initial events done");
    if (this.#verb !== undefined) this.#spans.end(this.#verb);
  }

  /** The response is complete, or the client has disconnected. */
  close(): void {
    const { exchange, resolved, info } = this.#context;
    if (info.verb === "watch") {
      if (this.#response !== undefined && !this.#passed.has("watch listed")) this.#spans.forget(this.#response);
      return;
    }
    if (this.#verb === undefined) return;
    // Requests that no endpoint serves have no span of a verb.
    if (resolved === undefined) return this.#spans.forget(this.#verb);
    if (this.#response !== undefined) {
      const outcome = exchange.status === 0 ? "Write call failed" : "Write call succeeded";
      this.#response.addEvent(outcome, { size: exchange.sentBytes });
      this.#spans.end(this.#response);
      this.event("Writing http response done");
    }
    this.#spans.end(this.#verb);
  }
}

const withoutPrefix = (key: string): string => key.replace(/^\/registry/, "");

/** The type of upstream's internal objects, in the package of the group. */
function goType({ custom, group, kind }: ResourceDefinition): string {
  return custom ? "*unstructured.Unstructured" : `*${group.split(".", 1)[0] || "core"}.${kind}`;
}

/** How upstream names the encoder of a response. */
function encoderOf({ resolved, representation, info }: RequestContext, mediaType: string, raw: string): string {
  const isTable = representation.shape.kind === "table";
  const { group, version } = resolved === undefined ? info : { group: info.group, version: resolved.version.version };
  const encodeGV = isTable ? `meta.k8s.io/${representation.shape.version}` : formatGroupVersion(group, version);
  const isProtobuf = mediaType.startsWith("application/vnd.kubernetes.protobuf");
  const yaml = String(mediaType.startsWith("application/yaml"));
  const pretty = String(info.query.get("pretty") === "true");
  const plain = JSON.stringify({ name: "json", pretty, strict: "false", yaml });
  const encoder = isProtobuf ? `${raw}protobuf` : mediaType.startsWith("application/cbor") ? "cbor" : plain;
  return JSON.stringify({ encodeGV, encoder, name: "versioning" });
}
