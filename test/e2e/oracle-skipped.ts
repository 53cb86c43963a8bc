/**
 * Steps of the recorded scenarios whose answers differ from this server's, by reason. A step is
 * `area/scenario/id`. "kube-apiserver answers as here" was checked with kube-apiserver 1.36.0: the
 * recorded server is another program that is built from the same libraries.
 */
export const skippedSteps: Readonly<Record<string, readonly string[]>> = {
  "The recorded server keeps an annotation of its own on every object, which the first update adds; kube-apiserver answers as here.":
    [
      "apply/errors/14-no-name",
      "apply/errors/17-null-data",
      "apply/errors/18-null-entry",
      "apply/life/02-no-op",
      "apply/life/05-share",
      "apply/life/07-force",
      "apply/life/08-relinquish",
      "apply/life/09-remove-all",
      "apply/life/10-remove-data",
      "apply/life/11-merge",
      "apply/life/13-put-cleared",
      "apply/life/15-patch-clear",
      "apply/life/16-get",
      "apply/life/17-empty-list",
      "basics/configmap-immutable/06-patch",
      "basics/configmap-life/07-no-change",
      "basics/configmap-life/15-get",
      "basics/namespaces/08-name-label",
      "basics/namespaces/09-name-label-removed",
      "basics/namespaces/10-finalizers-via-main",
      "basics/namespaces/11-finalize",
      "basics/namespaces/12-get",
      "basics/namespaces/17-label",
      "crd-values/defaults-and-pruning/08-patched-away",
      "dryrun/verbs/08-apply",
      "patch/json/15-escape",
      "patch/json/17-list",
      "patch/json/22-null",
    ],
  "The recorded server denies a user whom a RoleBinding allows; kube-apiserver answers as here.": [
    "access/reviews/10-user",
  ],
  "The recorded server names apply patches twice in this error; kube-apiserver answers as here.": [
    "crd-life/objects/10-strategic-415",
  ],
  "The recorded server does not report the missing group next to the wrong name; kube-apiserver reports both, as here.":
    ["crd-schemas/definition-refusals/02-no-group"],
  "Upstream validates properties in the random order of a Go map; here they are sorted by name.": [
    "crd-values/ratcheting/11-create-refused",
  ],
  "The recorded server's storage keys have another prefix, so their hashes differ; kube-apiserver answers as here.": [
    "discovery/documents/03-core",
    "discovery/documents/04-rbac",
    "discovery/documents/05-apiextensions",
    "discovery/documents/07-coordination",
  ],
  "The history of a new server begins at revision 1; the recorded server had compacted it.": [
    "list/resource-version/31-rv-1-Exact-limit",
    "watch/parameters/13-old-rv",
  ],
  "Descriptions come from @kubernetes/client-node, which has none for fields that refer to types.": [
    "discovery/documents/10-openapi-core",
  ],
  "The specification decides: verbose health output ends with `healthz check passed` at every endpoint.": [
    "discovery/health/05-exclude",
    "discovery/health/07-exclude-unknown-verbose",
    "discovery/health/08-readyz-verbose",
  ],
  "The specification decides: `dryRun` without a value is as if absent, so that this step creates the object of the following ones.":
    [
      "dryrun/verbs/04-empty-value",
      "dryrun/verbs/05-post",
      "dryrun/verbs/06-put",
      "dryrun/verbs/07-merge",
      "dryrun/verbs/09-delete",
      "dryrun/verbs/10-unchanged",
    ],
  "The specification decides: an invalid combination of list options is 400, with the message and causes of 1.36.": [
    "list/limit/17-token-and-match",
    "list/resource-version/07-rv-unset-NotOlderThan-all",
    "list/resource-version/08-rv-unset-Odd-all",
    "list/resource-version/10-rv-0-Exact-all",
    "list/resource-version/11-rv-0-Odd-all",
    "list/resource-version/16-rv-1-Odd-all",
    "list/resource-version/19-rv-x-Odd-all",
    "list/resource-version/23-rv-unset-NotOlderThan-limit",
    "list/resource-version/24-rv-unset-Odd-limit",
    "list/resource-version/26-rv-0-Exact-limit",
    "list/resource-version/27-rv-0-Odd-limit",
    "list/resource-version/34-rv-x-Odd-limit",
    "list/resource-version/37-rv-future-Odd-limit",
    "watch/parameters/04-initial-no-match",
    "watch/parameters/05-match-only",
    "watch/parameters/09-match-exact",
    "watch/parameters/15-list-with-initial",
  ],
};
