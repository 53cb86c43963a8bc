/** Checks the kubeconfig, the server that it names, and the clock. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseObject } from "../client/ask.ts";
import { withClient } from "../client/with-client.ts";
import { type DoctorOptions, type Finding, ok, problem, type Surroundings, warning } from "./contract.ts";

/** What is known of the server of the kubeconfig. */
export interface FoundServer {
  readonly findings: readonly Finding[];
  /** The host and port of a server that answers. */
  readonly answersAt?: string;
  /** Its clock, in milliseconds since 1970, and this machine's at the same time. */
  readonly times?: { readonly server: number; readonly own: number };
}

const check = "kubeconfig";

/** Reads the kubeconfig of the options, or else of the environment, or else of the data directory, and asks its server for its version. */
export async function checkServer(options: DoctorOptions, { env, now }: Surroundings): Promise<FoundServer> {
  const { dataDir, kubeconfig, context } = options;
  const own = join(dataDir, "kubeconfig");
  const isOwn = kubeconfig === undefined && (env.KUBECONFIG ?? "") === "" && existsSync(own);
  const named = kubeconfig ?? (isOwn ? own : undefined);
  const choice = { ...(named !== undefined && { kubeconfig: named }), ...(context !== undefined && { context }) };
  try {
    return await withClient(choice, env, async (client) => {
      const place = `${named ?? "the kubeconfig of the environment"}: ${client.server}`;
      const answer = await client.send({ method: "GET", path: "/version" });
      const times = { server: Date.parse(String(answer.headers.date)), own: now() };
      const version = String(parseObject(answer.body)?.gitVersion ?? "");
      const answersAt = new URL(client.server).host;
      const answered = { answersAt, ...(!Number.isNaN(times.server) && { times }) };
      if (answer.status === 401)
        return {
          findings: [
            problem(
              check,
              `${place} rejects the credentials (401)`,
              "issue new ones, with coxswain kubeconfig or certs renew",
            ),
          ],
          ...answered,
        };
      if (answer.status !== 200 || version === "")
        return {
          findings: [problem(check, `${place} answers ${answer.status}`, "check the server in the kubeconfig")],
          ...answered,
        };
      return { findings: [ok(check, `${place} answers, version ${version}`)], ...answered };
    });
  } catch (error) {
    return { findings: [failure(error as Error, isOwn)] };
  }
}

/** @param isOwn whether it is the kubeconfig of the data directory, whose server need not run yet */
function failure(error: NodeJS.ErrnoException, isOwn: boolean): Finding {
  const message = error.message || String((error as Error & { errors?: Error[] }).errors?.[0]?.message ?? error.code);
  if (isOwn && error.code === "ECONNREFUSED")
    return ok(check, "that of the data directory is valid, and its server does not run");
  if (message.startsWith("no kubeconfig was found: name one"))
    return warning(
      check,
      "there is none",
      "export KUBECONFIG=DIR/kubeconfig, with the --data-dir of the server, after its first start",
    );
  return problem(
    check,
    message,
    "check that the server runs, and the kubeconfig: --kubeconfig, KUBECONFIG or ~/.kube/config",
  );
}

/** Certificates and tokens have times: servers and clients that differ by minutes reject each other. */
const skewWarningMs = 5_000;
const skewProblemMs = 60_000;
/** The date of this release. A clock before it is wrong. */
const releasedAt = Date.UTC(2026, 0, 1);

/** Compares the clock with the date of the release, and with the clock of the server. */
export function checkClock(times: FoundServer["times"], now: number): Finding {
  const date = new Date(now).toISOString();
  const advice = "set the clock, and let NTP keep it";
  if (now < releasedAt) return problem("clock", `it is ${date} here, before this release`, advice);
  if (times === undefined) return ok("clock", `${date}; there is no other one to compare it with`);
  const skewMs = Math.abs(times.server - times.own);
  const message = `${Math.round(skewMs / 1000)} s from the clock of the server of the kubeconfig`;
  if (skewMs >= skewProblemMs) return problem("clock", message, `${advice}, on both machines`);
  return skewMs >= skewWarningMs ? warning("clock", message, `${advice}, on both machines`) : ok("clock", message);
}
