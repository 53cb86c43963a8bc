/** The variables of the expressions of one policy, which differ between its fields. */
import type { PolicyBindings } from "../../cel-environment/policy-evaluator.ts";
import { type BindingsOptions, requestBindings } from "../expressions/request-bindings.ts";
import { requestedResource } from "../matching/kinds.ts";
import type { ValidationBindings } from "./evaluate-validations.ts";

/** Creates the values of variables when expressions need them. */
export class RequestVariables implements ValidationBindings {
  readonly #options: BindingsOptions;

  constructor(options: BindingsOptions) {
    this.#options = options;
  }

  /** `request.resource` is that of the request, though the kind is that of the match. */
  conditions(): PolicyBindings {
    const { attributes, match } = this.#options;
    const asRequested = { kind: match.kind, resource: requestedResource(attributes) };
    return requestBindings({ ...this.#options, match: asRequested, namespace: undefined });
  }

  validations(): PolicyBindings {
    return requestBindings(this.#options);
  }

  messages(): PolicyBindings {
    return requestBindings({ ...this.#options, checks: undefined });
  }
}
