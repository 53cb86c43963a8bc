/** Random requests about one object. A seed and the object determine the request. */
import { cloneJson } from "../../../../src/lib/json/values.ts";
import { chance, freePlaces, type Json, lay, pick, type Random, removeAt, spoil, tamper, valueAt } from "./change.ts";
import { type Kind, pathOf } from "./kinds.ts";

export interface Request {
  readonly line: string;
  readonly type?: string;
  readonly agent?: string;
  readonly body?: Json;
}

/** The known state of the object. */
export interface Known {
  readonly name: string;
  /** The object in the last response; undefined when it does not exist. */
  readonly present: Json;
  /** An earlier state. */
  readonly past: readonly Json[];
}

const weights: Readonly<Record<string, number>> = {
  ...{ apply: 36, put: 10, putNew: 4, merge: 8, strategic: 6, json: 6, create: 3, remove: 2, pause: 2, many: 1 },
  ...{ statusApply: 6, statusPut: 3, statusPatch: 4, scaleApply: 3, scalePut: 2, scalePatch: 2 },
  ...{ entriesByMerge: 4, entriesByJson: 2, entriesByPut: 3, clientSide: 4, serverSide: 3, clientToServer: 1 },
};

/** The kinds of requests of one sequence. `many` has twelve managers. */
export function plan(random: Random, { status, scale }: Kind): string[] {
  const fitting = Object.keys(weights).filter(
    (name) => (status || !name.startsWith("status")) && (scale || !name.startsWith("scale")),
  );
  const table = fitting.flatMap((name) => Array<string>(weights[name] as number).fill(name));
  const requests = [pick(random, ["create", "apply", "apply"])];
  for (let left = 4 + random(12); left > 0; left--) {
    const name = pick(random, table);
    requests.push(...Array<string>(name === "many" ? 12 : 1).fill(name));
  }
  return requests.slice(0, 16);
}

const managers = ["m1", "m1", "m2", "m3", "kubectl", "kubectl-client-side-apply"];
const agents = ["kubectl/v1.30.0 (linux)", "Mozilla/5.0", "", undefined, "weird agent", "/x", "m1/2", "été/1"];
const types = {
  object: "application/json",
  apply: "application/apply-patch+yaml",
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
} as const;
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

/** @returns undefined for a pause until the next second */
export function makeRequest(what: string, kind: Kind, random: Random, known: Known): Request | undefined {
  return what === "pause" ? undefined : new RequestMaker(kind, random, known).make(what);
}

class RequestMaker {
  readonly #kind: Kind;
  readonly #random: Random;
  readonly #known: Known;
  readonly #version: string;
  readonly #query: string[] = [];

  constructor(kind: Kind, random: Random, known: Known) {
    this.#kind = kind;
    this.#random = random;
    this.#known = known;
    this.#version = chance(random, 70) ? (kind.versions[0] as string) : pick(random, kind.versions);
  }

  make(what: string): Request {
    const makers: Readonly<Record<string, () => Request>> = {
      create: () => this.#create(),
      apply: () => this.#apply("", this.#spoiled(this.#fresh(this.#random(5), this.#needsBase), 20)),
      put: () => this.#put(""),
      putNew: () => this.#send("PUT", "", "object", this.#spoiled(this.#fresh(this.#random(5)), 15)),
      merge: () => this.#send("PATCH", "", "merge", this.#part(this.#parts)),
      strategic: () => this.#strategic(),
      json: () => this.#send("PATCH", "", "json", this.#operations()),
      remove: () => ({ line: `DELETE ${this.#path("")}` }),
      many: () => this.#many(),
      statusApply: () =>
        this.#apply("/status", this.#spoiled(this.#withParts(this.#head(), this.#random(3), this.#statusParts), 12)),
      statusPut: () => this.#put("/status"),
      statusPatch: () => this.#statusPatch(),
      scaleApply: () => this.#apply("/scale", this.#spoiled(this.#scale(), 8)),
      scalePut: () => this.#send("PUT", "/scale", "object", this.#scale()),
      scalePatch: () => this.#send("PATCH", "/scale", "merge", pick(this.#random, scalePatches)),
      entriesByMerge: () =>
        this.#send("PATCH", this.#mayBeStatus, "merge", {
          ...this.#someParts,
          metadata: { managedFields: this.#entries },
        }),
      entriesByJson: () =>
        this.#send("PATCH", "", "json", [{ op: "replace", path: "/metadata/managedFields", value: this.#entries }]),
      entriesByPut: () => this.#send("PUT", this.#mayBeStatus, "object", withEntries(this.#present, this.#entries)),
      clientSide: () => this.#clientSide(),
      serverSide: () => this.#apply("", this.#fresh(this.#random(4), this.#needsBase), "kubectl"),
      clientToServer: () => this.#clientToServer(),
    };
    return (makers[what] as () => Request)();
  }

  get #parts(): readonly Json[] {
    return [...this.#kind.parts, ...(this.#kind.byVersion?.[this.#version]?.parts ?? [])];
  }

  get #statusParts(): readonly Json[] {
    return this.#kind.statusParts ?? this.#kind.parts;
  }

  get #needsBase(): boolean {
    return this.#known.present === undefined || chance(this.#random, 50);
  }

  get #mayBeStatus(): string {
    return this.#kind.status && chance(this.#random, 15) ? "/status" : "";
  }

  get #entries(): Json {
    return tamper(this.#known.present?.metadata?.managedFields, this.#random);
  }

  get #oldEntries(): Json {
    const { past } = this.#known;
    return past.length === 0 ? undefined : pick(this.#random, past).metadata?.managedFields;
  }

  get #someParts(): Json {
    return chance(this.#random, 50) ? {} : this.#withParts({}, 1, this.#parts);
  }

  /** The current object, labeled with this apiVersion. */
  get #present(): Json {
    const { present } = this.#known;
    return { ...(present === undefined ? this.#fresh(1) : cloneJson(present)), apiVersion: this.#version };
  }

  #head(): Json {
    const namespace = !this.#kind.clusterScoped && chance(this.#random, 30) ? { namespace: "n" } : undefined;
    return { apiVersion: this.#version, kind: this.#kind.kind, metadata: { name: this.#known.name, ...namespace } };
  }

  #fresh(parts: number, hasBase = true): Json {
    const base = { ...this.#kind.base, ...this.#kind.byVersion?.[this.#version]?.base };
    return this.#withParts(lay(this.#head(), hasBase ? base : {}, this.#random), parts, this.#parts);
  }

  #withParts(object: Json, count: number, parts: readonly Json[]): Json {
    let result = object;
    for (let left = count; left > 0; left--) result = lay(result, pick(this.#random, parts), this.#random);
    return result;
  }

  #spoiled(object: Json, percent: number): Json {
    for (let more = chance(this.#random, percent); more; more = chance(this.#random, 30)) spoil(object, this.#random);
    return object;
  }

  #part(parts: readonly Json[]): Json {
    return this.#spoiled(this.#withParts({}, 1 + this.#random(2), parts), 25);
  }

  #path(subresource: string): string {
    return pathOf(this.#kind, this.#version, this.#known.name) + subresource;
  }

  #send(method: string, subresource: string, type: keyof typeof types, body: Json, manager?: string): Request {
    const path = method === "POST" ? pathOf(this.#kind, this.#version) : this.#path(subresource);
    const query = [...this.#query];
    if (manager !== undefined || chance(this.#random, 75))
      query.push(`fieldManager=${manager ?? pick(this.#random, managers)}`);
    if (chance(this.#random, 4)) query.push("dryRun=All");
    if (chance(this.#random, 6)) query.push(`fieldValidation=${pick(this.#random, ["Strict", "Ignore", "Warn"])}`);
    const agent = pick(this.#random, agents);
    const line = `${method} ${path}${query.length > 0 ? `?${query.join("&")}` : ""}`;
    return { line, type: types[type], ...(agent !== undefined && { agent }), body };
  }

  #create(): Request {
    const object = this.#spoiled(this.#fresh(this.#random(4)), 15);
    if (chance(this.#random, 5) && typeof object.metadata === "object") object.metadata.managedFields = this.#entries;
    return this.#send("POST", "", "object", object);
  }

  #apply(subresource: string, intent: Json, manager = pick(this.#random, managers)): Request {
    if (chance(this.#random, 30)) this.#query.push("force=true");
    const { present } = this.#known;
    if (chance(this.#random, 3)) intent.metadata = { ...intent.metadata, managedFields: this.#entries };
    if (chance(this.#random, 3) && present !== undefined)
      intent.metadata.resourceVersion = pick(this.#random, [present.metadata.resourceVersion, "1"]);
    if (chance(this.#random, 2) && present !== undefined) intent.metadata.uid = present.metadata.uid;
    return this.#send("PATCH", subresource, "apply", intent, manager);
  }

  /** The current object with a change, and with current, no, unusual or old managed fields. */
  #put(subresource: string): Request {
    const object =
      subresource === "" ? this.#changed(this.#present) : this.#withParts(this.#present, 1, this.#statusParts);
    if (chance(this.#random, 30)) delete object.metadata?.resourceVersion;
    if (chance(this.#random, 15)) delete object.metadata?.managedFields;
    else if (chance(this.#random, 16)) withEntries(object, this.#entries);
    else if (chance(this.#random, 8)) withEntries(object, this.#oldEntries ?? this.#entries);
    return this.#send("PUT", subresource, "object", object);
  }

  #changed(object: Json): Json {
    const free = freePlaces(object);
    if (chance(this.#random, 20)) return this.#spoiled(object, 100);
    if (chance(this.#random, 25) && free.length > 0) removeAt(object, pick(this.#random, free));
    return this.#withParts(object, this.#random(3), this.#parts);
  }

  #strategic(): Request {
    if (this.#kind.custom) return this.#send("PATCH", "", "merge", this.#part(this.#parts));
    const patch = this.#part(this.#parts);
    const containers = freePlaces(patch).filter(
      (place) => typeof valueAt(patch, place) === "object" && valueAt(patch, place) !== null,
    );
    if (containers.length > 0 && chance(this.#random, 35)) this.#direct(patch, pick(this.#random, containers));
    return this.#send("PATCH", "", "strategic", patch);
  }

  #direct(patch: Json, place: readonly (string | number)[]): void {
    const target = valueAt(patch, place);
    const directive = pick(this.#random, ["delete", "replace", "merge"]);
    if (!Array.isArray(target)) target.$patch = directive;
    else if (typeof target[0] === "object" && target[0] !== null) target[0].$patch = directive;
  }

  #operations(): Json[] {
    const object = this.#known.present?.apiVersion === this.#version ? this.#known.present : this.#fresh(1);
    return Array.from({ length: 1 + this.#random(3) }, () => this.#operation(object));
  }

  #operation(object: Json): Json {
    const free = freePlaces(object);
    const [name, value] = Object.entries(this.#withParts({}, 1, this.#parts))[0] as [string, Json];
    if (free.length === 0 || chance(this.#random, 20)) return { op: "add", path: `/${name}`, value };
    const place = pick(this.#random, free);
    const path = `/${place.map((step) => String(step).replaceAll("~", "~0").replaceAll("/", "~1")).join("/")}`;
    const op = pick(this.#random, ["remove", "replace", "replace", "test"]);
    if (op === "remove") return { op, path };
    const same = valueAt(object, place);
    return {
      op,
      path,
      value:
        op === "test"
          ? same
          : pick(this.#random, [null, {}, [], "x", 5, same, valueAt(object, pick(this.#random, free))]),
    };
  }

  #many(): Request {
    const annotations = { [`k${this.#random(20)}`]: String(this.#random(5)) };
    return this.#send("PATCH", "", "merge", { metadata: { annotations } }, `u${this.#random(16)}`);
  }

  #statusPatch(): Request {
    const patch = this.#spoiled(
      this.#withParts({}, 1 + this.#random(2), chance(this.#random, 80) ? this.#statusParts : this.#parts),
      12,
    );
    return this.#send("PATCH", "/status", this.#kind.custom || chance(this.#random, 50) ? "merge" : "strategic", patch);
  }

  #scale(): Json {
    const spec = pick(this.#random, [
      { replicas: 1 },
      { replicas: 3 },
      { replicas: 4 },
      {},
      { replicas: 0 },
      { replicas: null },
    ]);
    return {
      apiVersion: "autoscaling/v1",
      kind: "Scale",
      metadata: { name: this.#known.name, namespace: "n" },
      spec: { ...spec },
    };
  }

  /** The request of `kubectl apply` without `--server-side`. */
  #clientSide(): Request {
    const object = this.#fresh(this.#random(4), this.#needsBase);
    const said = JSON.stringify(object);
    object.metadata.annotations = { ...object.metadata.annotations, [lastApplied]: `${said}\n` };
    if (this.#known.present === undefined) return this.#send("POST", "", "object", object, "kubectl-client-side-apply");
    return this.#send("PATCH", "", this.#kind.custom ? "merge" : "strategic", object, "kubectl-client-side-apply");
  }

  /** The request of client-go's `csaupgrade`. */
  #clientToServer(): Request {
    const { managedFields = [{}], resourceVersion = "1" } = this.#known.present?.metadata ?? {};
    const value = cloneJson(managedFields) as Json[];
    for (const entry of value)
      if (entry.manager === "kubectl-client-side-apply")
        Object.assign(entry, { manager: "kubectl", operation: "Apply" });
    const operations = [
      { op: "replace", path: "/metadata/managedFields", value },
      { op: "replace", path: "/metadata/resourceVersion", value: resourceVersion },
    ];
    return this.#send("PATCH", "", "json", operations);
  }
}

const scalePatches = [
  { spec: { replicas: 2 } },
  { spec: { replicas: 3 } },
  { spec: { replicas: null } },
  { spec: {} },
  { metadata: { managedFields: [{}] } },
];

function withEntries(object: Json, managedFields: Json): Json {
  if (typeof object.metadata === "object" && object.metadata !== null) object.metadata.managedFields = managedFields;
  return object;
}
