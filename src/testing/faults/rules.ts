/** Keeps the rules in order, and finds the one that applies to a request. */
import type { RequestContext } from "../../http/contract.ts";
import { type CheckedFields, checkPossible, type ResourceNames } from "./check-possible.ts";
import { checkFault, checkRule, FaultRuleError } from "./check-rule.ts";
import type { Fault, FaultHandle, FaultRule, Faults } from "./contract.ts";
import { canApply, type RuleMatcher, ruleMatcher } from "./match.ts";

/** Rules at a time. */
export const rulesMax = 1000;

/** A rule with its counters. */
export interface ActiveRule extends FaultHandle {
  readonly isRemoved: boolean;
}

/** Is notified of rules. */
export interface RuleObserver {
  added(rule: ActiveRule): void;
  removed(rule: ActiveRule): void;
}

/** The rules of a server. */
export interface Rules extends Faults {
  /**
   * Checks a rule without adding it.
   * @param fields their names in messages
   * @throws FaultRuleError
   */
  check(rule: unknown, fault: unknown, fields?: CheckedFields): [FaultRule, Fault];
  /**
   * The first rule that applies to the request, whose counters change.
   * @param isEligible limits the rules
   */
  take(context: RequestContext, isEligible?: (rule: ActiveRule) => boolean): ActiveRule | undefined;
}

/**
 * Creates the rules of a server, without any.
 * @param resources returns those that the server has now
 */
export function openRules(observer: RuleObserver, resources: () => readonly ResourceNames[]): Rules {
  const active = new Map<string, CountedRule>();
  let added = 0;
  const remove = (rule: CountedRule): void => {
    if (rule.isRemoved) return;
    rule.isRemoved = true;
    active.delete(rule.id);
    observer.removed(rule);
  };
  const check: Rules["check"] = (rule, fault, fields = { rule: "rule", fault: "fault" }) => {
    const [checkedRule, checkedFault] = [checkRule(rule, fields.rule), checkFault(fault, fields.fault)];
    checkPossible(checkedRule, checkedFault, resources(), fields);
    return [checkedRule, checkedFault];
  };
  return {
    check,
    add(rule, fault) {
      const [checkedRule, checkedFault] = check(rule, fault);
      if (active.size >= rulesMax) throw new FaultRuleError("rules", `there are ${rulesMax} already`);
      const one: CountedRule = new CountedRule(`fault-${++added}`, checkedRule, checkedFault, () => remove(one));
      active.set(one.id, one);
      observer.added(one);
      return one;
    },
    list: () => [...active.values()],
    clear() {
      for (const rule of active.values()) remove(rule);
    },
    take(context, isEligible) {
      for (const rule of active.values()) if ((isEligible?.(rule) ?? true) && rule.takes(context)) return rule;
      return undefined;
    },
  };
}

class CountedRule implements ActiveRule {
  readonly id: string;
  readonly rule: FaultRule;
  readonly fault: Fault;
  readonly #matches: RuleMatcher;
  readonly #random: () => number;
  readonly #remove: () => void;
  #seen = 0;
  hits = 0;
  isRemoved = false;

  constructor(id: string, rule: FaultRule, fault: Fault, remove: () => void) {
    this.id = id;
    this.rule = rule;
    this.fault = fault;
    this.#matches = ruleMatcher(rule);
    this.#random = randomShares(rule.seed ?? 1);
    this.#remove = remove;
  }

  takes(context: RequestContext): boolean {
    const { after = 0, count = Number.POSITIVE_INFINITY, probability = 1 } = this.rule;
    if (this.hits >= count || !canApply(this.fault, context) || !this.#matches(context)) return false;
    this.#seen++;
    if (this.#seen <= after) return false;
    if (probability < 1 && this.#random() >= probability) return false;
    this.hits++;
    return true;
  }

  remove(): void {
    this.#remove();
  }
}

/** Reproducible numbers from 0 to below 1: Mulberry32. */
function randomShares(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
