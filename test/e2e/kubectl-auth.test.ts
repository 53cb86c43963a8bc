/**
 * Access control with kubectl: `auth can-i`, `auth whoami`, `auth reconcile`, `create role` and
 * similar, and `--as`.
 */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { kubectls, runKubectl } from "../support/kubectl.ts";
import { startTestServer, type TestServer } from "../support/start-test-server.ts";

let server: TestServer;
let annKubeconfigPath = "";

before(async () => {
  server = await startTestServer();
  annKubeconfigPath = (await server.as("ann", ["dev"])).kubeconfigPath;
});
after(() => server.close());

/** Roles and bindings of all four kinds. @param more what a version of the file adds or changes */
const manifest = (more: { rule?: string; subject?: string; role?: string } = {}): string => `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: kept, namespace: default}
rules:
- {apiGroups: [""], resources: [pods], verbs: [get${more.rule ?? ""}]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: kept, namespace: default}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: ${more.role ?? "kept"}}
subjects:
- {kind: User, name: ann, apiGroup: rbac.authorization.k8s.io}
${more.subject ?? ""}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: kept}
rules:
- {apiGroups: [apps], resources: [deployments], verbs: [list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: kept}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: kept}
subjects:
- {kind: Group, name: dev, apiGroup: rbac.authorization.k8s.io}
`;

const files: readonly (readonly [name: string, text: string])[] = [
  [
    "more.yaml",
    manifest({ rule: ", delete", subject: "- {kind: User, name: bob, apiGroup: rbac.authorization.k8s.io}" }),
  ],
  ["less.yaml", manifest()],
  ["moved.yaml", manifest({ role: "other" })],
];

const reconciled = (kind: string, name = "kept"): RegExp =>
  new RegExp(`^${kind}\\.rbac\\.authorization\\.k8s\\.io/${name} reconciled`, "m");
const created = (kind: string): RegExp => new RegExp(`^${kind}\\.rbac\\.authorization\\.k8s\\.io/\\S+ created$`, "m");
/** Each is a line of the output. */
const linesOf = (...lines: RegExp[]): RegExp =>
  new RegExp(`^${lines.map(({ source }) => `(?=[\\s\\S]*^${source}$)`).join("")}`, "m");
const verbsAndSubjects =
  "get role/kept rolebinding/kept -o jsonpath={.items[*].rules[*].verbs}:{.items[*].subjects[*].name}";

type Step = readonly [user: "admin" | "ann", command: string, output: RegExp, code?: number];

const whoAmI = "auth whoami prints the user and its groups";
/** kubectl 1.27 requests versions that 1.36 does not serve. */
const whoAmIOf127: readonly Step[] = [
  ["ann", "auth whoami", /^error: the selfsubjectreviews API is not enabled in the cluster$/m, 1],
];

/** Only with COXSWAIN_TEST_FULL=1: test/e2e/rights and src/authorization have the rows of the server. */
const fullSize = [
  "auth can-i answers for the roles",
  "--as impersonates users that RBAC allows",
  "creating roles and bindings requires their permissions, or escalate and bind",
];
const isFull = process.env.COXSWAIN_TEST_FULL === "1";

const sessions: readonly (readonly [what: string, steps: readonly Step[]])[] = [
  [
    whoAmI,
    [
      [
        "ann",
        "auth whoami -o jsonpath={.status.userInfo.username}:{.status.userInfo.groups}",
        /^ann:\["dev","system:authenticated"\]$/,
      ],
      [
        "admin",
        "auth whoami --as zoe --as-group a --as-group b -o jsonpath={.status.userInfo.groups}",
        /^\["a","b","system:authenticated"\]$/,
      ],
      ["admin", "auth whoami --as zoe --as-uid 7 -o jsonpath={.status.userInfo.uid}", /^7$/],
      [
        "admin",
        "auth whoami --as system:serviceaccount:default:robot -o jsonpath={.status.userInfo.groups[*]}",
        /^system:serviceaccounts system:serviceaccounts:default system:authenticated$/,
      ],
      ["admin", "auth whoami", /^Username +kubernetes-admin$/m],
    ],
  ],
  [
    "create role and create rolebinding grant access",
    [
      [
        "admin",
        "create role reader --verb=get,list --resource=pods,configmaps,deployments.apps,pods/log",
        created("role"),
      ],
      ["admin", "create role one --verb=get --resource=secrets --resource-name=s1 --resource-name=s2", created("role")],
      ["admin", "create rolebinding reader --role=reader --user=ann", created("rolebinding")],
      [
        "admin",
        "create rolebinding one --role=one --user=ann --group=dev --serviceaccount=default:robot",
        created("rolebinding"),
      ],
      ["admin", "create clusterrole watcher --verb=watch --resource=nodes", created("clusterrole")],
      ["admin", "create clusterrole paths --verb=get --non-resource-url=/logs/*,/logs", created("clusterrole")],
      ["admin", "create clusterrole collects --aggregation-rule=example.com/collect=true", created("clusterrole")],
      ["admin", "create clusterrolebinding watcher --clusterrole=watcher --group=dev", created("clusterrolebinding")],
      [
        "admin",
        "create clusterrolebinding paths --clusterrole=paths --serviceaccount=default:robot",
        created("clusterrolebinding"),
      ],
      ["admin", "create rolebinding viewer --clusterrole=view --serviceaccount=default:robot", created("rolebinding")],
      [
        "admin",
        "create role reader --verb=get --resource=pods",
        /^[Ee]rror.*AlreadyExists.*roles\.rbac\.authorization\.k8s\.io "reader" already exists$/m,
        1,
      ],
      [
        "admin",
        "create role strange --verb=get --resource=widgets",
        /the server doesn't have a resource type "widgets"/,
        1,
      ],
      ["ann", "auth can-i get configmaps", /^yes$/m, 0],
      ["ann", "auth can-i get pods --subresource=log", /^yes$/m, 0],
      ["ann", "auth can-i get secrets/s3", /^no$/m, 1],
      ["ann", "auth can-i get pods -A", /^no$/m, 1],
      ["admin", "auth can-i get /logs/x --as system:serviceaccount:default:robot", /^yes$/m, 0],
      ["admin", "auth can-i watch nodes --as zoe --as-group dev", /^yes$/m, 0],
    ],
  ],
  [
    "auth can-i answers for the roles",
    [
      ["ann", "auth can-i list deployments", /^yes$/m, 0],
      ["ann", "auth can-i get pods/log", /^yes$/m, 0],
      ["ann", "auth can-i get secrets/s1", /^yes$/m, 0],
      ["ann", "auth can-i get secrets", /^no$/m, 1],
      ["ann", "auth can-i delete pods", /^no$/m, 1],
      ["ann", "auth can-i get pods -n kube-system", /^no$/m, 1],
      ["ann", "auth can-i watch nodes", /^yes$/m, 0],
      ["ann", "auth can-i get /healthz", /^yes$/m, 0],
      ["ann", "auth can-i get /logs", /^no$/m, 1],
      ["ann", "auth can-i * *", /^no$/m, 1],
      ["ann", "auth can-i delete pods -q", /^$/, 1],
      [
        "ann",
        "auth can-i get widgets",
        /Warning: the server doesn't have a resource type 'widgets'\s+no|no\s+Warning: the server doesn't have a resource type 'widgets'/,
        1,
      ],
      ["admin", "auth can-i * * -A", /^yes$/m, 0],
      ["admin", "auth can-i get services --as system:serviceaccount:default:robot -n default", /^yes$/m, 0],
      ["admin", "auth can-i get services --as system:serviceaccount:default:robot -n kube-system", /^no$/m, 1],
      ["admin", "auth can-i get configmaps --as zoe", /^no$/m, 1],
    ],
  ],
  [
    "auth can-i --list prints the permissions of a user",
    [
      [
        "ann",
        "auth can-i --list",
        linesOf(
          /configmaps +\[\] +\[\] +\[get list\]/,
          /deployments\.apps +\[\] +\[\] +\[get list\]/,
          /secrets +\[\] +\[s1\] +\[get\]/,
          / +\[\/healthz\] +\[\] +\[get\]/,
          /selfsubjectreviews\.authentication\.k8s\.io +\[\] +\[\] +\[create\]/,
        ),
      ],
      [
        "ann",
        "auth can-i --list -n kube-system --no-headers",
        /^(?![\s\S]*configmaps)[\s\S]*^nodes +\[\] +\[\] +\[watch\]$/m,
      ],
      ["admin", "auth can-i --list", /^\*\.\* +\[\] +\[\] +\[\*\]$/m],
      [
        "admin",
        "auth can-i --list --as system:node:n1 --as-group system:nodes",
        /Warning: the list may be incomplete: node authorizer does not support user rule resolution/,
      ],
    ],
  ],
  [
    "--as impersonates users that RBAC allows",
    [
      ["admin", "get configmaps --as ann", /^No resources found in default namespace\.$/m],
      [
        "admin",
        "get configmaps --as zoe",
        /^Error from server \(Forbidden\): configmaps is forbidden: User "zoe" cannot list resource "configmaps" in API group "" in the namespace "default"$/m,
        1,
      ],
      ["admin", "get nodes --as zoe --as-group system:masters", /^No resources found$/m],
      [
        "ann",
        "get pods --as zoe",
        /User "ann" cannot (impersonate-on:user-info:)?list resource "pods"|User "ann" cannot impersonate resource "users"/,
        1,
      ],
      [
        "admin",
        "get configmaps --as-group dev",
        /requesting (uid, )?groups or user-extra for .* without impersonating a user|without impersonating a user/,
        1,
      ],
      [
        "ann",
        "get configmaps -A",
        /^Error from server \(Forbidden\): configmaps is forbidden: User "ann" cannot list resource "configmaps" in API group "" at the cluster scope$/m,
        1,
      ],
    ],
  ],
  [
    "creating roles and bindings requires their permissions, or escalate and bind",
    [
      ["admin", "create role keeper --verb=create,update,patch,get --resource=roles,rolebindings", created("role")],
      ["admin", "create rolebinding keeper --role=keeper --user=ann", created("rolebinding")],
      ["ann", "create role mine --verb=get --resource=configmaps", created("role")],
      [
        "ann",
        "create role more --verb=get,delete --resource=configmaps",
        /roles\.rbac\.authorization\.k8s\.io "more" is forbidden: user "ann" \(groups=\["dev" "system:authenticated"\]\) is attempting to grant RBAC permissions not currently held:\n\{APIGroups:\[""\], Resources:\["configmaps"\], Verbs:\["delete"\]\}/,
        1,
      ],
      ["ann", "create rolebinding mine --role=mine --user=bob", created("rolebinding")],
      [
        "ann",
        "create rolebinding all --clusterrole=admin --user=bob",
        /rolebindings\.rbac\.authorization\.k8s\.io "all" is forbidden: user "ann".* is attempting to grant RBAC permissions not currently held:/,
        1,
      ],
    ],
  ],
  [
    "auth reconcile merges files into existing roles and bindings",
    [
      ["admin", "auth reconcile -f more.yaml --dry-run=client", reconciled("role")],
      ["admin", "get role kept", /NotFound/, 1],
      ["admin", "auth reconcile -f more.yaml", reconciled("role")],
      ["admin", "auth reconcile -f more.yaml -o name", /^clusterrolebinding\.rbac\.authorization\.k8s\.io\/kept$/m],
      ["admin", verbsAndSubjects, /^\["get","delete"\]:ann bob$/],
      ["admin", "auth reconcile -f less.yaml", reconciled("rolebinding")],
      ["admin", verbsAndSubjects, /^\["get","delete"\]:ann bob$/],
      ["admin", "auth reconcile -f less.yaml --remove-extra-permissions", reconciled("clusterrole")],
      ["admin", verbsAndSubjects, /^\["get"\]:ann bob$/],
      ["admin", "auth reconcile -f less.yaml --remove-extra-subjects", reconciled("clusterrolebinding")],
      ["admin", verbsAndSubjects, /^\["get"\]:ann$/],
      ["admin", "create role other --verb=list --resource=services", created("role")],
      ["admin", "auth reconcile -f moved.yaml", reconciled("rolebinding")],
      ["admin", "get rolebinding kept -o jsonpath={.roleRef.name}", /^other$/],
      ["ann", "auth can-i list services", /^yes$/m, 0],
      [
        "admin",
        "apply -f less.yaml",
        /rolebindings\.rbac\.authorization\.k8s\.io "kept" is invalid|cannot change roleRef/,
        1,
      ],
    ],
  ],
  [
    "deleting roles and bindings revokes access",
    [
      ["admin", "delete role,rolebinding --all", /deleted/],
      ["admin", "delete clusterrole watcher paths collects kept", /deleted/],
      ["admin", "delete clusterrolebinding watcher paths kept", /deleted/],
      ["ann", "auth can-i get configmaps", /^no$/m, 1],
    ],
  ],
];

for (const kubectl of kubectls()) {
  describe(kubectl.split("/").at(-1) as string, () => {
    for (const [what, steps] of sessions) {
      test(what, { skip: fullSize.includes(what) && !isFull && "needs COXSWAIN_TEST_FULL=1" }, async () => {
        const { directory, kubeconfigPath } = server;
        for (const [name, text] of files) writeFileSync(join(directory, name), text);
        for (const [user, command, output, code = 0] of what === whoAmI && kubectl.endsWith(".1.27")
          ? whoAmIOf127
          : steps) {
          const run = await runKubectl(kubectl, command.split(" "), {
            directory,
            kubeconfigPath: user === "ann" ? annKubeconfigPath : kubeconfigPath,
          });
          assert.match(run.output, output, `${user}: ${command}`);
          assert.equal(run.code, code, `${user}: ${command}: ${run.output}`);
        }
      });
    }
  });
}
