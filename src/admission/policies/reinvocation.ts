/**
 * Which policies run again. Source:
 * k8s.io/apiserver@v0.36.0/pkg/admission/plugin/policy/mutating/reinvocationcontext.go.
 */
import type { KubeObject } from "../../apimachinery/object.ts";
import { cloneJson, deepEqual } from "../../lib/json/values.ts";
import { type AdmissionAttributes, type Reinvocation, reinvocationOf } from "../../registry/admission-attributes.ts";

/** The state of the mutating policies for one attempt of a write. */
export class PolicyReinvocation {
  readonly #reinvocation: Reinvocation;
  /** Evaluations that must see later changes. */
  readonly #evaluated = new Set<string>();
  /** Evaluations of the second run. */
  readonly #due = new Set<string>();
  #output: KubeObject | undefined;

  constructor(reinvocation: Reinvocation) {
    this.#reinvocation = reinvocation;
  }

  /** A run starts. Other plugins may have changed the object since the last run. */
  start(object: KubeObject | undefined): void {
    if (this.#reinvocation.isSecondRun && !deepEqual(this.#output, object)) this.#evaluateAgain();
  }

  /** Whether an evaluation is part of this run. The second run evaluates none for the first time. */
  isDue(key: string): boolean {
    return !this.#reinvocation.isSecondRun || this.#due.has(key);
  }

  /** A policy changed the object, or may have changed it. */
  changed(): void {
    this.#evaluateAgain();
    this.#reinvocation.isRequested = true;
  }

  /** A policy with the reinvocation policy IfNeeded was evaluated. */
  evaluated(key: string): void {
    this.#evaluated.add(key);
  }

  /** A run ends. */
  finish(object: KubeObject | undefined): void {
    this.#output = cloneJson(object);
  }

  #evaluateAgain(): void {
    for (const key of this.#evaluated) this.#due.add(key);
    this.#evaluated.clear();
  }
}

/** Returns the state of the plugin, which it creates for the first run. */
export function policyReinvocation(attributes: AdmissionAttributes): PolicyReinvocation {
  const reinvocation = reinvocationOf(attributes);
  const existing = reinvocation.states.get(key) as PolicyReinvocation | undefined;
  if (existing !== undefined) return existing;
  const state = new PolicyReinvocation(reinvocation);
  reinvocation.states.set(key, state);
  return state;
}

const key = "MutatingAdmissionPolicy";
