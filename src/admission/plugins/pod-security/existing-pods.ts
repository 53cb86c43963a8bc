/**
 * Evaluates the existing pods of a namespace. Source: `EvaluatePodsInNamespace` in
 * k8s.io/pod-security-admission@v0.36.0/admission/admission.go.
 */
import type { Clock } from "../../../apimachinery/clock.ts";
import { ApiError } from "../../../apimachinery/errors.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import type { ResourceStore } from "../../../catalog/contract.ts";
import { sortKeys } from "../../../lib/json/encode-any.ts";
import { quoteGo } from "../../../lib/json/quote.ts";
import { evaluatePod, formatReasons } from "../../../lib/pod-security/evaluate.ts";
import { formatLevelVersion, type LevelVersion } from "../../../lib/pod-security/levels.ts";
import type { Pod } from "../../../lib/pod-security/pod.ts";
import type { Entry, Snapshot } from "../../../watch-cache/contract.ts";

/** Further pods are not evaluated. */
const podsMax = 3000;
const durationMaxMs = 1000;
/** Other requests run after this number of pods. */
const podsPerTurn = 50;

interface Options {
  /** The store of pods. */
  readonly store: ResourceStore | undefined;
  readonly namespace: string;
  readonly enforce: LevelVersion;
  readonly exemptRuntimeClasses: ReadonlySet<string>;
  /** The newest minor version that has checks; that of the binary by default. */
  readonly minorMax?: number | undefined;
  readonly clock: Clock;
  /** When the time limit of the request ends, in milliseconds since 1970; half of the time is used. */
  readonly endsAt: number | undefined;
}

/** Returns the warnings about pods that violate a standard. */
export async function existingPodWarnings(options: Options): Promise<string[]> {
  const { store, namespace, enforce } = options;
  if (store === undefined) return [];
  try {
    await store.cache.ready();
    const result = await new Evaluation(store, options).run(await store.cache.current());
    return formatWarnings(result, namespace, formatLevelVersion(enforce));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return ["failed to list pods while checking new PodSecurity enforce level"];
  }
}

interface Result {
  readonly checked: number;
  readonly total: number;
  readonly violations: ReadonlyMap<string, Violators>;
}

interface Violators {
  /** The first name. */
  name: string;
  count: number;
}

/** Evaluates one pod of each controller first, because the others are mostly equal. */
class Evaluation {
  readonly #store: ResourceStore;
  readonly #options: Options;
  readonly #until: number;
  readonly #violations = new Map<string, Violators>();
  #checked = 0;
  #exempt = 0;

  constructor(store: ResourceStore, options: Options) {
    const { clock, endsAt = Number.POSITIVE_INFINITY } = options;
    const now = clock.now();
    this.#store = store;
    this.#options = options;
    this.#until = now + Math.min(durationMaxMs, (endsAt - now) / 2);
  }

  async run(snapshot: Snapshot): Promise<Result> {
    const prefix = this.#store.keyOf(this.#options.namespace, "");
    const rest = await this.#checkFirst(snapshot.range(prefix));
    for (const entry of rest) {
      if (this.#isOver()) break;
      this.#check(this.#store.decode(entry));
      await this.#yield(this.#checked);
    }
    return { checked: this.#checked, total: snapshot.count(prefix) - this.#exempt, violations: this.#violations };
  }

  /** @returns further pods of the controllers, as many as can still be evaluated */
  async #checkFirst(entries: Iterable<Entry>): Promise<Entry[]> {
    const controllers = new Set<string>();
    const rest: Entry[] = [];
    let read = 0;
    for (const entry of entries) {
      if (this.#isOver()) break;
      const pod = this.#store.decode(entry);
      const controller = controllerOf(pod);
      if (this.#options.exemptRuntimeClasses.has(pod.spec.runtimeClassName)) this.#exempt++;
      else if (controller === undefined || !controllers.has(controller)) {
        if (controller !== undefined) controllers.add(controller);
        this.#check(pod);
      } else if (rest.length < podsMax) rest.push(entry);
      await this.#yield(++read);
    }
    return rest;
  }

  /** At least one pod is evaluated. */
  #isOver(): boolean {
    return this.#checked >= podsMax || (this.#checked > 0 && this.#options.clock.now() >= this.#until);
  }

  #check(pod: KubeObject): void {
    this.#checked++;
    const failed = evaluatePod(this.#options.enforce, pod as unknown as Pod, this.#options.minorMax);
    if (failed.length === 0) return;
    const reasons = formatReasons(failed);
    const name = pod.metadata.name ?? "";
    const violators = this.#violations.get(reasons);
    if (violators === undefined) this.#violations.set(reasons, { name, count: 1 });
    else {
      violators.count++;
      if (name < violators.name) violators.name = name;
    }
  }

  async #yield(pods: number): Promise<void> {
    if (pods % podsPerTurn === 0) await new Promise(setImmediate);
  }
}

function controllerOf({ metadata: { ownerReferences = [] } }: KubeObject): string | undefined {
  return ownerReferences.find(({ controller }) => controller === true)?.uid;
}

function formatWarnings({ checked, total, violations }: Result, namespace: string, enforce: string): string[] {
  const warnings: string[] = [];
  if (checked < total)
    warnings.push(`new PodSecurity enforce level only checked against the first ${checked} of ${total} existing pods`);
  if (violations.size > 0)
    warnings.push(
      `existing pods in namespace ${quoteGo(namespace)} violate the new PodSecurity enforce level ${quoteGo(enforce)}`,
    );
  return [...warnings, ...sortKeys([...violations].map(([reasons, violators]) => formatViolators(violators, reasons)))];
}

function formatViolators({ name, count }: Violators, reasons: string): string {
  if (count === 1) return `${name}: ${reasons}`;
  return `${name} (and ${count - 1} other ${count === 2 ? "pod" : "pods"}): ${reasons}`;
}
