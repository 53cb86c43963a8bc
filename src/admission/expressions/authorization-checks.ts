/**
 * Answers `authorizer` in expressions, which are evaluated synchronously, although an authorizer may
 * have to call a webhook. Such a check ends the evaluation; when the answer has arrived, the
 * evaluation starts again with it.
 *
 * Sources: k8s.io/apiserver@v0.36.0/pkg/cel/library/authz.go (attributes of a check),
 * pkg/admission/plugin/authorizer/caching_authorizer.go (one answer per request).
 */
import { serviceAccountGroups, serviceAccountUser } from "../../apimachinery/service-account.ts";
import type { UserInfo } from "../../apimachinery/user.ts";
import type { AuthorizationAttributes, Authorizer, Decision } from "../../authorization/contract.ts";
import {
  type AuthorizationCheck,
  type AuthorizationDecision,
  CelAuthorizer,
  type Decide,
  noResource,
  resourceCheckType,
} from "../../lib/cel/index.ts";
import type { AdmissionAttributes } from "../../registry/admission-attributes.ts";

/** Ends an evaluation whose next check has no answer yet. */
class UndecidedCheck extends Error {
  readonly answered: Promise<void>;
  constructor(answered: Promise<void>) {
    super("an authorization check is not decided yet");
    this.name = "UndecidedCheck";
    this.answered = answered;
  }
}

/**
 * The limit of evaluations of one unit. The cost of a check keeps units with valid budgets far below
 * it: 350,000 of at most 22,500,000 units.
 */
const roundsMax = 128;

/** The values of `authorizer` and `authorizer.requestResource`. */
interface AuthorizerValues {
  readonly authorizer: CelAuthorizer;
  readonly requestResource: CelAuthorizer;
}

/**
 * The authorization checks of the expressions of one request. Each distinct check is sent to the
 * authorizer once.
 */
export class AuthorizationChecks {
  readonly #authorize: Authorizer;
  readonly #attributes: AdmissionAttributes;
  /** Undefined before the first check. */
  #decisions: Map<string, AuthorizationDecision> | undefined;
  #values: AuthorizerValues | undefined;

  constructor(authorize: Authorizer, attributes: AdmissionAttributes) {
    this.#authorize = authorize;
    this.#attributes = attributes;
  }

  /** The values of the variables, whose checks must be made within `evaluate`. */
  get values(): AuthorizerValues {
    this.#values ??= this.#createValues();
    return this.#values;
  }

  /**
   * Runs evaluations again until all their checks are answered.
   *
   * @param unit evaluates expressions; called several times, so it must have no effects and start
   *   with its whole cost budget. With the same answers it must make the same checks.
   * @returns the result of the last call
   */
  async evaluate<T>(unit: () => Promise<T>): Promise<T> {
    for (let round = 0; round < roundsMax; round++) {
      try {
        return await unit();
      } catch (error) {
        if (!(error instanceof UndecidedCheck)) throw error;
        await error.answered;
      }
    }
    throw new Error(`an expression makes more than ${roundsMax} authorization checks`);
  }

  #decide(check: AuthorizationCheck): AuthorizationDecision {
    this.#decisions ??= new Map();
    const decisions = this.#decisions;
    const key = JSON.stringify(check);
    const known = decisions.get(key);
    if (known !== undefined) return known;
    const decision = this.#authorize(attributesOf(check, this.#attributes.user));
    if (decision instanceof Promise)
      throw new UndecidedCheck(decision.then((late) => void decisions.set(key, answerOf(late))));
    const answer = answerOf(decision);
    decisions.set(key, answer);
    return answer;
  }

  #createValues(): AuthorizerValues {
    const { target, subresource, namespace, name } = this.#attributes;
    const { group, resource } = target.resource.definition;
    const own = { ...noResource, group, resource, subresource, namespace, name };
    const decide: Decide = (check) => this.#decide(check);
    return {
      authorizer: new CelAuthorizer(decide),
      requestResource: new CelAuthorizer(decide, resourceCheckType, { resource: own }),
    };
  }
}

function answerOf({ decision, reason, error }: Decision): AuthorizationDecision {
  return { allowed: decision === "allow", reason, ...(error !== undefined && { error }) };
}

function attributesOf(
  { verb, serviceAccount, path = "", resource }: AuthorizationCheck,
  user: UserInfo,
): AuthorizationAttributes {
  return {
    user: serviceAccount === undefined ? user : userOf(serviceAccount),
    verb,
    path,
    isResourceRequest: resource !== undefined,
    version: resource === undefined ? "" : "*",
    ...noResource,
    ...resource,
  };
}

function userOf({ namespace, name }: NonNullable<AuthorizationCheck["serviceAccount"]>): UserInfo {
  const groups = serviceAccountGroups(namespace);
  return { name: serviceAccountUser(namespace, name), uid: "", groups, extra: new Map() };
}
