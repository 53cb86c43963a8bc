/** `coxswain certs`: makes, renews and shows what servers over one store, and their etcd, share. */
import { type Command, Option } from "commander";
import { exitFailed } from "../exit-codes.ts";
import { addExamples, collect, defineSubcommand, outputOption, type Run } from "../subcommands.ts";
import { keySets } from "./contract.ts";
import type { InitOptions } from "./init.ts";
import type { RenewOptions } from "./renew.ts";
import type { ShowOptions } from "./show.ts";

/** The command `coxswain certs`. */
export const certsCommand = defineSubcommand({
  name: "coxswain certs",
  description:
    "Makes the authorities, certificates and keys that servers over one store share, and those of their etcd, renews them without downtime, and shows them. Private keys can be read by their owner only, and are never printed.",
  exitCodes: [
    [0, "made, renewed, or shown without a problem"],
    [1, "shown: a certificate expires within 30 days, or others can read a private key"],
    [
      exitFailed,
      "the command line is invalid, a file exists, one could not be read or written, or another command changes the directory",
    ],
  ],
  add(command, run) {
    addInit(command, run);
    addRenew(command, run);
    addShow(command, run);
  },
});

const directoryArgument = ["<dir>", "the directory of the files"] as const;
const nameHelp = "a DNS name or an address by which clients reach the servers or their load balancer; may be repeated";
const etcdNameHelp = "a DNS name or an address of a member of etcd; makes certificates for etcd; may be repeated";

function addInit(command: Command, run: Run): void {
  const init = command
    .command("init")
    .summary("makes all files")
    .description(
      "Makes the authority of servers and clients, that of front proxies, the serving certificate, the certificate and kubeconfig of the administrator, the client certificate for aggregated servers, and the key of service account tokens; with --etcd-name, also the authority of etcd and the certificates of its members and of the servers as its clients. Existing files are never replaced. The authorities are valid for ten years, the certificates for one.",
    )
    .argument(...directoryArgument)
    .option("--name <name>", nameHelp, collect, [])
    .option("--etcd-name <name>", etcdNameHelp, collect, [])
    .option("--server <url>", "the URL in the kubeconfig; if unset, port 6443 of the first --name")
    .option("--service-cluster-ip-range <range>", "that of the servers, whose first address is theirs", "10.0.0.0/24")
    .addOption(outputOption())
    .action((path: string, options: InitOptions) =>
      run(async (output) => {
        const { initCertificates } = await import("./init.ts");
        await initCertificates(path, options, output, Date.now());
        return 0;
      }),
    );
  addExamples(init, [
    "certs init pki --name api.example.com --name 10.0.0.21 --name 10.0.0.22",
    "certs init pki --name api.example.com --etcd-name 10.0.0.31 --etcd-name 10.0.0.32",
  ]);
}

function addRenew(command: Command, run: Run): void {
  const renew = command
    .command("renew")
    .summary("renews certificates, and replaces keys in two steps")
    .description(
      "Issues certificates again that expire soon, lack a --name or an --etcd-name, or are not of the authority in use, and removes keys and authorities that are no longer accepted. A key or an authority is replaced in two steps: --prepare makes the next one, which is accepted and not used; when all servers and clients have the files, --activate uses it, and the former one remains accepted for --keep.",
    )
    .argument(...directoryArgument)
    .option("--name <name>", `${nameHelp}; those of the certificate stay`, collect, [])
    .option("--etcd-name <name>", etcdNameHelp, collect, [])
    .option("--server <url>", "the URL in the kubeconfig; if unset, the one that it has")
    .option("--within <duration>", "renews what expires sooner", "720h")
    .option("--all", "renews all certificates")
    .addOption(new Option("--prepare <key>", "makes the next one of it").choices(keySets.map(({ name }) => name)))
    .addOption(new Option("--activate <key>", "uses the prepared one").choices(keySets.map(({ name }) => name)))
    .option("--keep <duration>", "how long what --activate replaces remains accepted; 0s: no longer", "8784h")
    .addOption(outputOption())
    .action((path: string, options: RenewOptions) =>
      run(async (output) => {
        const { renewCertificates } = await import("./renew.ts");
        await renewCertificates(path, options, output, Date.now());
        return 0;
      }),
    );
  addExamples(renew, ["certs renew pki", "certs renew pki --prepare sa", "certs renew pki --activate sa"]);
}

function addShow(command: Command, run: Run): void {
  const show = command
    .command("show")
    .summary("shows subjects, usages and expiry")
    .description(
      "Shows the certificates and public keys of the directory, which can also be the --data-dir of a server: subject, usages, names, validity, and whether they are in use.",
    )
    .argument(...directoryArgument)
    .addOption(outputOption())
    .action((path: string, options: ShowOptions) =>
      run(async (output) => (await import("./show.ts")).showCertificates(path, options, output, Date.now())),
    );
  addExamples(show, ["certs show pki", "certs show .coxswain -o json"]);
}
