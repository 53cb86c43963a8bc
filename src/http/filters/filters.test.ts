import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError, type Status } from "../../apimachinery/errors.ts";
import { parseFeatureGates } from "../../apimachinery/feature-gates.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { UserInfo } from "../../apimachinery/user.ts";
import { bearerTokenAuthenticators } from "../../authentication/bearer-token.ts";
import { clientCertificateAuthenticator } from "../../authentication/client-certificate.ts";
import type { Authenticator } from "../../authentication/contract.ts";
import { isCredentialHeader } from "../../authentication/credential-headers.ts";
import { tokenFileAuthenticator } from "../../authentication/token-file.ts";
import { authenticate } from "../../authentication/union.ts";
import type { AuthorizerType } from "../../authorization/configuration/contract.ts";
import type { Authorizer } from "../../authorization/contract.ts";
import {
  type AuthorizationModule,
  alwaysAllowModule,
  alwaysDenyModule,
  authorizerOf,
  rbacModule,
} from "../../authorization/modes.ts";
import { bindingOf, roleOf } from "../../authorization/rbac/follow-policy.ts";
import { Policy } from "../../authorization/rbac/policy.ts";
import { bootstrapPolicy } from "../../controllers/bootstrap/rbac/policy.ts";
import type { RequestState } from "../../request/context.ts";
import type { Exchange, PeerCertificate } from "../../request/exchange.ts";
import { requestInfo } from "../../request/request-info.ts";
import { authenticationFilter } from "./authentication.ts";
import { authorizationFilter } from "./authorization.ts";
import { impersonationFilter } from "./impersonation.ts";

const noUser: UserInfo = { name: "", uid: "", groups: [], extra: new Map() };
const user = (name: string, ...groups: string[]): UserInfo => ({ ...noUser, name, groups });

function contextOf(exchange: Partial<Exchange>, method = "GET", target = "/"): RequestState {
  return {
    exchange: exchange as Exchange,
    info: requestInfo(method, target),
    user: noUser,
    headers: {},
    warnings: [] as string[],
  } as RequestState;
}

async function errorOf(run: () => unknown): Promise<Status | undefined> {
  try {
    await run();
    return undefined;
  } catch (error) {
    assert.ok(error instanceof ApiError);
    return error.status;
  }
}

const authorities = { pem: "", certificates: [] };
const isTrustedBy = (): boolean => true;
const certificate: PeerCertificate = {
  commonName: "ann",
  organizations: ["devs", "ops"],
  uids: [],
  fingerprint: "0f",
  expiresAt: 0,
  isTrustedBy,
};
const untrusted: PeerCertificate = { ...certificate, isTrustedBy: () => false };
const noCredentials = { isCredential: () => false, endUnknown: false };
const certificates = clientCertificateAuthenticator({ authorities: () => authorities, uids: true });
const known: UserInfo = {
  name: "ann",
  uid: "",
  groups: ["devs", "ops", "system:authenticated"],
  extra: new Map([["authentication.kubernetes.io/credential-id", ["X509SHA256=0f"]]]),
};
const anonymous = user("system:anonymous", "system:unauthenticated");
const authenticated = user("bob", "system:authenticated");
const eve: UserInfo = { ...noUser, name: "eve", uid: "7", groups: ["a", "b", "system:authenticated"] };
const tokens = bearerTokenAuthenticators(tokenFileAuthenticator('secret,eve,7,"a,b"\n', "tokens.csv"), ["api"]);
const later: Authenticator = async ({ header }) =>
  header("x-user") === undefined ? undefined : user(header("x-user") as string);

interface Caller {
  readonly certificate?: PeerCertificate;
  readonly headers?: Readonly<Record<string, string>>;
  readonly anonymousAuth?: boolean;
}
const webSocket = { connection: "keep-alive, Upgrade", upgrade: "WebSocket" };
const protocols = "sec-websocket-protocol";
const bearer = "base64url.bearer.authorization.k8s.io.";
const withToken = (...tokens: string[]): Caller["headers"] & object => ({
  ...webSocket,
  [protocols]: ["v4.channel.k8s.io", ...tokens.map((token) => bearer + token)].join(", "),
});
const authenticationRows: [what: string, caller: Caller, want: UserInfo | 401][] = [
  ["a certificate names the user and the groups", { certificate }, known],
  ["a certificate of another authority", { certificate: untrusted }, 401],
  ["a certificate without a common name", { certificate: { ...certificate, commonName: "" } }, 401],
  ["a certificate of another authority, without a common name", { certificate: { ...untrusted, commonName: "" } }, 401],
  ["a certificate with a uid", { certificate: { ...certificate, uids: ["u"] } }, { ...known, uid: "u" }],
  ["a certificate with two uids", { certificate: { ...certificate, uids: ["u", "v"] } }, 401],
  ["a certificate with an empty uid", { certificate: { ...certificate, uids: [""] } }, 401],
  ["nothing", {}, anonymous],
  ["nothing, and anonymous requests are error", { anonymousAuth: false }, 401],
  ["a token noUser knows", { headers: { authorization: "Bearer x" } }, 401],
  ["a token noUser knows, as a subprotocol", { headers: withToken("eA") }, 401],
  ["a token of the file", { headers: { authorization: "Bearer secret" } }, eve],
  ["the scheme in any case, spaces around", { headers: { authorization: " bEaReR secret " } }, eve],
  ["text after the token is ignored", { headers: { authorization: "Bearer secret x" } }, eve],
  ["two tokens in one header", { headers: { authorization: "Bearer secret, Bearer x" } }, 401],
  ["the token's case counts", { headers: { authorization: "Bearer SECRET" } }, 401],
  ["another scheme is as good as nothing", { headers: { authorization: "Basic c2VjcmV0" } }, anonymous],
  ["a token without a scheme", { headers: { authorization: "secret" } }, anonymous],
  ["a space too many before the token", { headers: { authorization: "Bearer  x" } }, anonymous],
  ["a scheme alone", { headers: { authorization: "Bearer " } }, anonymous],
  ["a token of the file, as a subprotocol", { headers: withToken("c2VjcmV0") }, eve],
  ["two subprotocols with tokens", { headers: withToken("c2VjcmV0", "c2VjcmV0") }, 401],
  ["a subprotocol that is no base64url", { headers: withToken("c2Vjc+V0") }, 401],
  ["a subprotocol with padding", { headers: withToken("c2VjcmV0eA==") }, 401],
  ["a subprotocol that is no UTF-8", { headers: withToken("_w") }, 401],
  ["a subprotocol with an empty token", { headers: withToken("") }, anonymous],
  ["a token without another subprotocol", { headers: { ...webSocket, [protocols]: `${bearer}c2VjcmV0` } }, 401],
  ["an empty token without another subprotocol", { headers: { ...webSocket, [protocols]: bearer } }, anonymous],
  ["a subprotocol without Connection", { headers: { ...withToken("eA"), connection: "keep-alive" } }, anonymous],
  ["a subprotocol with another Upgrade", { headers: { ...withToken("eA"), upgrade: "SPDY/3.1" } }, anonymous],
  [
    "a wrong token in the header and a good one as a subprotocol",
    { headers: { ...withToken("c2VjcmV0"), authorization: "Bearer x" } },
    eve,
  ],
  [
    "a wrong certificate and a good token",
    { certificate: untrusted, headers: { authorization: "Bearer secret" } },
    eve,
  ],
  ["a good certificate and a wrong token", { certificate, headers: { authorization: "Bearer x" } }, known],
  ["a WebSocket without a token", { headers: withToken() }, anonymous],
  ["a method that has to wait", { headers: { "x-user": "bob" } }, authenticated],
  ["the first method that knows the caller decides", { certificate, headers: { "x-user": "bob" } }, known],
];
for (const [what, { certificate: peerCertificate, headers = {}, anonymousAuth = true }, want] of authenticationRows) {
  test(`authentication: ${what}`, async () => {
    const filter = authenticationFilter(
      authenticate([certificates, ...tokens, later], { enabled: anonymousAuth, conditions: [] }),
      noCredentials,
    );
    const context = contextOf({
      peerCertificate,
      header: (name) => headers[name],
      rawHeaders: Object.entries(headers).flat(),
      protocol: "HTTP/1.1",
    });
    const error = await errorOf(() => filter(context));
    if (want === 401) assert.deepEqual(error, { code: 401, reason: "Unauthorized", message: "Unauthorized" });
    else assert.deepEqual([error, context.user], [undefined, want]);
  });
}

const proxies = {
  clientCaFile: undefined,
  allowedNames: [],
  usernameHeaders: ["X-Name"],
  uidHeaders: ["X-Remote-Uid", "X-Uid"],
  groupHeaders: ["X-Groups"],
  extraHeaderPrefixes: ["X-More-"],
};
const forgottenRows: [what: string, headers: readonly string[], kept: readonly string[]][] = [
  ["a token", ["accept", "Authorization"], ["accept"]],
  [
    "a proxy's headers, as everybody calls them",
    ["X-Remote-User", "x-remote-uid", "x-remote-GROUP", "x-remote-extra-a"],
    [],
  ],
  [
    "a proxy's headers, as the options call them",
    ["x-NAME", "X-Uid", "x-groups", "x-more-a", "x-mor", "x-name2"],
    ["x-mor", "x-name2"],
  ],
  [
    "nothing of this",
    ["accept", "user-agent", "x-forwarded-for", "impersonate-user"],
    ["accept", "user-agent", "x-forwarded-for", "impersonate-user"],
  ],
];
for (const [what, names, kept] of forgottenRows) {
  test(`removes after authentication: ${what}`, async () => {
    let left = names;
    const forgetHeaders = (isMeant: (name: string) => boolean): void => {
      left = left.filter((name) => !isMeant(name.toLowerCase()));
    };
    const context = contextOf({ rawHeaders: names.flatMap((name) => [name, "x"]), forgetHeaders });
    await authenticationFilter(() => anonymous, { isCredential: isCredentialHeader(proxies), endUnknown: false })(
      context,
    );
    assert.deepEqual(left, kept);
  });
}

test("rejects impersonation without a user name like impersonation that is not allowed", async () => {
  const filter = impersonationFilter(() => ({ decision: "allow", reason: "" }), { constrained: true });
  const context = contextOf({ rawHeaders: ["Impersonate-Group", "a"] });
  assert.equal((await errorOf(() => filter(context)))?.code, 400);
  assert.equal(context.headers["x-content-type-options"], "nosniff");
});

test("impersonation first tries the mode that last succeeded for the user", async () => {
  const asked: string[] = [];
  const filter = impersonationFilter(
    ({ verb }) => {
      asked.push(verb);
      return { decision: verb === "impersonate" ? "allow" : "noOpinion", reason: "" };
    },
    { constrained: true },
  );
  const rawHeaders = ["Impersonate-User", "ann"];
  const become = async (): Promise<string[]> => {
    asked.length = 0;
    await filter(contextOf({ rawHeaders, forgetHeaders() {} }));
    return [...asked];
  };
  assert.deepEqual(await become(), ["impersonate-on:user-info:get", "impersonate"]);
  assert.deepEqual(await become(), ["impersonate"]);
});

test("removes the impersonation headers after impersonation", async () => {
  const rawHeaders = [
    "Impersonate-User",
    "ann",
    "IMPERSONATE-Group",
    "a",
    "impersonate-extra-b",
    "c",
    "x-impersonate",
    "d",
  ];
  let kept = rawHeaders.filter((_, at) => at % 2 === 0);
  const forgetHeaders = (isMeant: (name: string) => boolean): void => {
    kept = kept.filter((name) => !isMeant(name.toLowerCase()));
  };
  for (const decision of ["deny", "allow"] as const) {
    const filter = impersonationFilter(() => ({ decision, reason: "" }), { constrained: false });
    const status = await errorOf(() => filter(contextOf({ rawHeaders, forgetHeaders })));
    assert.deepEqual([status?.code, kept.length], decision === "deny" ? [403, 4] : [undefined, 1]);
  }
  assert.deepEqual(kept, ["x-impersonate"]);
});

const policy = new Policy();
for (const { namespace, object } of bootstrapPolicy(parseFeatureGates("").gates)) {
  const stored = { ...object, metadata: { ...object.metadata, namespace } } as KubeObject;
  const key = `${object.kind} ${namespace}/${object.metadata.name}`;
  if (object.roleRef === undefined) policy.setRole(key, roleOf(stored));
  else policy.setBinding(key, bindingOf(stored));
}
const modules: Partial<Record<AuthorizerType, AuthorizationModule>> = {
  AlwaysAllow: alwaysAllowModule,
  AlwaysDeny: alwaysDenyModule,
  RBAC: rbacModule(policy),
};
const authorizer = (modes: readonly AuthorizerType[]): Authorizer =>
  authorizerOf(modes.map((mode) => modules[mode] as AuthorizationModule));

const master = user("root", "system:masters");
const allowedRows: [who: UserInfo, modes: AuthorizerType[], method: string, target: string][] = [
  [master, ["RBAC"], "DELETE", "/api/v1/nodes"],
  [master, ["AlwaysDeny"], "GET", "/foo"],
  [anonymous, ["RBAC"], "GET", "/livez"],
  [anonymous, ["RBAC"], "GET", "/readyz?verbose"],
  [anonymous, ["RBAC"], "GET", "/healthz"],
  [anonymous, ["RBAC"], "GET", "/version"],
  [authenticated, ["RBAC"], "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews"],
  [authenticated, ["RBAC"], "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"],
  [authenticated, ["RBAC"], "POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"],
  [anonymous, ["AlwaysAllow"], "DELETE", "/api/v1/nodes"],
  [anonymous, ["AlwaysDeny", "AlwaysAllow"], "GET", "/foo"],
];
for (const [who, modes, method, target] of allowedRows) {
  test(`authorization [${modes}]: ${who.name} may ${method} ${target}`, async () => {
    const context = contextOf({}, method, target);
    context.user = who;
    assert.equal(await errorOf(() => authorizationFilter(authorizer(modes))(context)), undefined);
  });
}

const deniedRows: [
  who: UserInfo,
  modes: AuthorizerType[],
  method: string,
  target: string,
  message: string,
  details: object,
][] = [
  [
    anonymous,
    ["RBAC"],
    "GET",
    "/api/v1/namespaces/default/pods",
    'pods is forbidden: User "system:anonymous" cannot list resource "pods" in API group "" in the namespace "default"',
    { kind: "pods" },
  ],
  [
    user('a"b<c>'),
    ["RBAC"],
    "PUT",
    "/apis/apps/v1/namespaces/x/deployments/d/scale",
    'deployments.apps "d" is forbidden: User "a\\"b&lt;c&gt;" cannot update resource "deployments/scale" in API group "apps" in the namespace "x"',
    { name: "d", group: "apps", kind: "deployments" },
  ],
  [
    anonymous,
    ["RBAC"],
    "GET",
    "/api/v1/nodes?watch=1",
    'nodes is forbidden: User "system:anonymous" cannot watch resource "nodes" in API group "" at the cluster scope',
    { kind: "nodes" },
  ],
  [
    anonymous,
    ["RBAC"],
    "POST",
    "/apis/authentication.k8s.io/v1/selfsubjectreviews",
    'selfsubjectreviews.authentication.k8s.io is forbidden: User "system:anonymous" cannot create resource "selfsubjectreviews" in API group "authentication.k8s.io" at the cluster scope',
    { group: "authentication.k8s.io", kind: "selfsubjectreviews" },
  ],
  [
    authenticated,
    ["RBAC"],
    "POST",
    "/apis/authorization.k8s.io/v1/subjectaccessreviews",
    'subjectaccessreviews.authorization.k8s.io is forbidden: User "bob" cannot create resource "subjectaccessreviews" in API group "authorization.k8s.io" at the cluster scope',
    { group: "authorization.k8s.io", kind: "subjectaccessreviews" },
  ],
  [anonymous, ["RBAC"], "GET", "/foo", 'forbidden: User "system:anonymous" cannot get path "/foo"', {}],
  [anonymous, ["RBAC"], "POST", "/livez", 'forbidden: User "system:anonymous" cannot post path "/livez"', {}],
  [anonymous, ["RBAC"], "GET", "/livez/ping", 'forbidden: User "system:anonymous" cannot get path "/livez/ping"', {}],
  [anonymous, ["RBAC"], "GET", "/metrics", 'forbidden: User "system:anonymous" cannot get path "/metrics"', {}],
  [
    anonymous,
    ["AlwaysDeny"],
    "GET",
    "/version",
    'forbidden: User "system:anonymous" cannot get path "/version": Everything is forbidden.',
    {},
  ],
];
for (const [who, modes, method, target, message, details] of deniedRows) {
  test(`authorization [${modes}]: ${who.name} may not ${method} ${target}`, async () => {
    const context = contextOf({}, method, target);
    context.user = who;
    const error = await errorOf(() => authorizationFilter(authorizer(modes))(context));
    assert.deepEqual(error, { code: 403, reason: "Forbidden", message, details });
    assert.equal(context.headers["x-content-type-options"], "nosniff");
  });
}
