/**
 * Changes the level of the log while the server runs: PUT of a number to /debug/flags/v.
 * Sources: k8s.io/apiserver@v0.36.0/pkg/server/routes/flags.go and `GlogSetter` in
 * k8s.io/component-base@v0.36.0/logs/logs.go.
 */
import type { Verbosity } from "../../apimachinery/verbosity.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import type { PathRoute, RequestState } from "../../request/context.ts";

const bodyBytesMax = 1024;
const levelMax = 2 ** 31 - 1;

export function debugFlagsRoutes(verbosity: Verbosity): PathRoute[] {
  const setLevel = async (context: RequestState): Promise<void> => {
    const { exchange } = context;
    if (exchange.method !== "PUT") return sendText(context, 406, "unsupported http method");
    const text = (await exchange.body(bodyBytesMax)).toString();
    const problem = levelProblem(text);
    if (problem !== undefined) return sendText(context, 400, problem);
    verbosity.level = Number(text);
    sendText(context, 200, `successfully set klog.logging.verbosity to ${text}`);
  };
  return [
    { path: "/debug/flags", handler: sendIndex },
    { path: "/debug/flags/v", handler: setLevel },
    { path: "/debug/flags/*", handler: sendIndex },
  ];
}

function levelProblem(text: string): string | undefined {
  if (!/^\d+$/.test(text)) return `strconv.ParseUint: parsing ${quoteGo(text)}: invalid syntax`;
  if (Number(text) >= 2 ** 32) return `strconv.ParseUint: parsing ${quoteGo(text)}: value out of range`;
  if (Number(text) <= levelMax) return undefined;
  return `failed set klog.logging.verbosity ${text}: strconv.ParseInt: parsing ${quoteGo(text)}: value out of range`;
}

function sendText({ exchange, auditId, headers }: RequestState, code: number, text: string): void {
  const own = { "audit-id": auditId, "cache-control": "no-cache, private", "x-content-type-options": "nosniff" };
  exchange.respond(code, { ...own, "content-type": "text/plain", ...headers }, Buffer.from(`${text}\n`));
}

const page = `<html>
<head>
<title>/debug/flags/</title>
</head>
<body>
/debug/flags/<br>
<br>
flags:<br>
<table>
<tr>v<br>
</table>
<br>
full flags configurable<br>
</body>
</html>
`;

function sendIndex({ exchange, auditId, headers }: RequestState): void {
  const own = { "audit-id": auditId, "cache-control": "no-cache, private" };
  exchange.respond(200, { ...own, "content-type": "text/html; charset=utf-8", ...headers }, Buffer.from(page));
}
