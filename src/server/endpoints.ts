/** The endpoint of each verb of each resource and subresource. */
import type { Clock } from "../apimachinery/clock.ts";
import { selfSubjectReview } from "../apis/authentication/self-subject-review.ts";
import { tokenReview } from "../apis/authentication/token-review.ts";
import {
  localSubjectAccessReview,
  selfSubjectAccessReview,
  selfSubjectRulesReview,
  subjectAccessReview,
} from "../apis/authorization/access-reviews.ts";
import { componentStatuses, type HealthProbe } from "../apis/core/component-status.ts";
import { createActions } from "../apis/subresources.ts";
import type { Connect } from "../forwarding/contract.ts";
import type { ResourceEndpoints } from "../http/contract.ts";
import { computedEndpoints } from "../http/endpoints/computed.ts";
import { createObject } from "../http/endpoints/create.ts";
import { deleteObject } from "../http/endpoints/delete.ts";
import { deleteCollection } from "../http/endpoints/delete-collection.ts";
import { getObject } from "../http/endpoints/get.ts";
import { listObjects } from "../http/endpoints/list.ts";
import type { openWatches } from "../http/endpoints/open-watches.ts";
import { patchObject } from "../http/endpoints/patch.ts";
import { reviewEndpoint } from "../http/endpoints/review.ts";
import { subresourceEndpoints } from "../http/endpoints/subresources.ts";
import { tokenRequestEndpoint } from "../http/endpoints/token-request.ts";
import { updateObject } from "../http/endpoints/update.ts";
import { watchObjects } from "../http/endpoints/watch.ts";
import { PieceMemory } from "../http/representation/piece-memory.ts";
import type { ServerAuthentication } from "./authentication.ts";
import type { ServerAuthorization } from "./authorization.ts";

interface Needs {
  readonly watches: ReturnType<typeof openWatches>;
  readonly clock: Clock;
  readonly authorization: ServerAuthorization;
  readonly authentication: ServerAuthentication;
  /** By `resource/subresource` of the core group. */
  readonly connections: Readonly<Record<string, Connect>>;
  /** The health probes of ComponentStatus, by component. */
  readonly components: Readonly<Record<string, HealthProbe>>;
}

export function resourceEndpoints({
  watches,
  clock,
  authorization: { authorize, rulesOf },
  authentication,
  connections,
  components,
}: Needs): ResourceEndpoints {
  const memory = new PieceMemory();
  return {
    verbs: {
      get: getObject,
      list: (context, registry) => listObjects(context, registry, memory),
      watch: (context, registry) => watchObjects(context, registry, watches),
      create: createObject,
      update: (context, registry) => updateObject(context, registry, authorize),
      patch: (context, registry) => patchObject(context, registry, authorize),
      delete: (context, registry) => deleteObject(context, registry, authorize),
      deletecollection: (context, registry) => deleteCollection(context, registry, memory),
    },
    computed: { "/componentstatuses": computedEndpoints(componentStatuses(components)) },
    subresources: {
      ...subresourceEndpoints({ createActions, connections }, authorize),
      "/serviceaccounts/token": tokenRequestEndpoint(authentication.tokens),
      "authentication.k8s.io/selfsubjectreviews/": reviewEndpoint(selfSubjectReview(clock)),
      "authentication.k8s.io/tokenreviews/": reviewEndpoint(tokenReview(authentication.reviewed)),
      "authorization.k8s.io/selfsubjectaccessreviews/": reviewEndpoint(selfSubjectAccessReview(authorize)),
      "authorization.k8s.io/subjectaccessreviews/": reviewEndpoint(subjectAccessReview(authorize)),
      "authorization.k8s.io/localsubjectaccessreviews/": reviewEndpoint(localSubjectAccessReview(authorize)),
      "authorization.k8s.io/selfsubjectrulesreviews/": reviewEndpoint(selfSubjectRulesReview(rulesOf)),
    },
  };
}
