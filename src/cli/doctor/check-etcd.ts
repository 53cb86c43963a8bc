/** Checks that each member of etcd answers. */
import { systemClock } from "../../apimachinery/clock.ts";
import { EtcdClient } from "../../storage/etcd/api/client.ts";
import { answersProgress } from "../../storage/etcd/server-version.ts";
import { tlsOf } from "../store/open-reader.ts";
import { type DoctorOptions, type Finding, ok, problem, warning } from "./contract.ts";

const timeoutMs = 3_000;

/** Asks all members at the same time. */
export function checkEtcd(options: DoctorOptions): Promise<Finding[]> {
  return Promise.all(options.etcdServers.map((url) => checkMember(url, options)));
}

async function checkMember(url: string, options: DoctorOptions): Promise<Finding> {
  const check = `etcd ${url}`;
  const { etcdCafile: cafile, etcdCertfile: certfile, etcdKeyfile: keyfile } = options;
  const tls = tlsOf({ ...(cafile && { cafile }), ...(certfile && { certfile }), ...(keyfile && { keyfile }) });
  let client: EtcdClient | undefined;
  try {
    client = new EtcdClient({ servers: [url], tls, clock: systemClock });
    const status = await client.statusAt(0, timeoutMs);
    const message = `answers, version ${status.version}, ${Math.ceil(status.dbSize / 2 ** 20)} MiB`;
    if (answersProgress([status])) return ok(check, message);
    return warning(check, message, "use etcd 3.4.31, 3.5.13 or later, which reports the progress of watches");
  } catch (error) {
    const advice =
      "check that it runs, the URL in --etcd-servers, and the files of --etcd-cafile, --etcd-certfile and --etcd-keyfile";
    return problem(check, `does not answer: ${reasonOf(error as Error)}`, advice);
  } finally {
    client?.close();
  }
}

/** gRPC's message has the error of the last connection between others. */
function reasonOf({ message }: Error): string {
  const marker = "Last error: ";
  const at = message.indexOf(marker);
  const last = at < 0 ? message : message.slice(at + marker.length);
  return last.replace(/^Error: /, "").replace(/\.? Resolution note: *$/, "");
}
