/**
 * Which mutating webhooks are called again. Source:
 * k8s.io/apiserver@v0.36.0/pkg/admission/plugin/webhook/mutating/reinvocationcontext.go.
 */
import type { KubeObject } from "../../apimachinery/object.ts";
import { cloneJson, identical } from "../../lib/json/values.ts";
import type { AdmissionAttributes, Reinvocation } from "../../registry/admission-attributes.ts";

/** The state of the webhooks for one attempt of a write. */
class WebhookReinvocation {
  readonly #reinvocation: Reinvocation;
  /** Webhooks that were called and must see later changes. */
  readonly #called = new Set<string>();
  /** Webhooks that are called in the second run. */
  readonly #due = new Set<string>();
  #output: KubeObject | undefined;

  constructor(reinvocation: Reinvocation) {
    this.#reinvocation = reinvocation;
  }

  /** A run starts. Other plugins may have changed the object since the last run. */
  start({ object }: AdmissionAttributes): void {
    if (this.#reinvocation.isSecondRun && this.#called.size > 0 && !identical(this.#output, object)) this.#callAgain();
  }

  /** Whether a webhook is called in this run. The second run calls none for the first time. */
  isDue(uid: string): boolean {
    return !this.#reinvocation.isSecondRun || this.#due.has(uid);
  }

  /** A webhook changed the object. */
  changed(): void {
    this.#callAgain();
    this.#reinvocation.isRequested = true;
  }

  /** A webhook was called that must see later changes. */
  called(uid: string): void {
    this.#called.add(uid);
  }

  /** A run ends. */
  finish({ object }: AdmissionAttributes): void {
    this.#output = this.#called.size > 0 && object !== undefined ? cloneJson(object) : undefined;
  }

  #callAgain(): void {
    for (const uid of this.#called) this.#due.add(uid);
    this.#called.clear();
  }
}

/** Returns the state of the plugin, which it creates for the first run. */
export function reinvocationState(plugin: string, reinvocation: Reinvocation): WebhookReinvocation {
  const existing = reinvocation.states.get(plugin) as WebhookReinvocation | undefined;
  if (existing !== undefined) return existing;
  const state = new WebhookReinvocation(reinvocation);
  reinvocation.states.set(plugin, state);
  return state;
}
