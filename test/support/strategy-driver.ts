/** Calls a strategy as the registry does, for tests of kinds. */
import { FieldErrors } from "../../src/apimachinery/field-errors.ts";
import type { KubeObject } from "../../src/apimachinery/object.ts";
import { validateObjectMeta } from "../../src/apimachinery/validation/metadata.ts";
import type { Strategy, StrategyContext } from "../../src/catalog/strategy-contract.ts";

export const testContext: StrategyContext = {
  user: { name: "alice", uid: "", groups: ["system:authenticated"], extra: new Map() },
  gates: { enabled: () => false },
  now: Date.UTC(2020, 0, 1),
  warn: () => {},
  find: async () => undefined,
  findDenial: async () => undefined,
};

export interface Outcome {
  readonly object: KubeObject;
  /** `field: message`, in order. */
  readonly problems: string[];
}

/** @param input without metadata: an object named `x` in `ns` */
export function created(kind: Strategy, input: Record<string, unknown>, namespaced = true): Outcome {
  const object = decoded(kind, input, namespaced);
  kind.prepareForCreate(object, testContext);
  const errors = new FieldErrors();
  const validateName = (name: string, prefix: boolean): string[] => kind.validateName(name, prefix, object);
  validateObjectMeta(object.metadata, { namespaced, validateName }, errors);
  void kind.validate(object, errors, testContext);
  return { object, problems: listed(errors) };
}

/** The result of an update of `before` by `change`, with only the errors of the kind itself. */
export function updated(
  kind: Strategy,
  before: Record<string, unknown>,
  change: (object: KubeObject) => void,
  namespaced = true,
): Outcome {
  const old = created(kind, before, namespaced).object;
  const next = structuredClone(old);
  change(next);
  kind.setDefaults(next);
  kind.prepareForUpdate(next, old, testContext);
  const errors = new FieldErrors();
  void kind.validateUpdate(next, old, errors, testContext);
  return { object: next, problems: listed(errors) };
}

function decoded(kind: Strategy, input: Record<string, unknown>, namespaced: boolean): KubeObject {
  const object = structuredClone(input) as KubeObject;
  object.metadata = { name: "x", uid: "u", ...(namespaced && { namespace: "ns" }), ...object.metadata };
  kind.setDefaults(object);
  return object;
}

const listed = ({ causes }: FieldErrors): string[] => causes.map(({ field, message }) => `${field}: ${message}`);
