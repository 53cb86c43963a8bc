/**
 * `coxswain store`: backups and repair of the store. It loads only the storage engine, not the
 * server.
 */
import { type Command, InvalidArgumentError, Option } from "commander";
import { exitFailed } from "../exit-codes.ts";
import { addExamples, defineSubcommand, type OutputFormat, outputOption, type Run } from "../subcommands.ts";
import { bumpDefault, exitDamaged, exitWhole, revisionMax } from "./contract.ts";
import type { CopyCommandOptions } from "./copy.ts";
import type { RewriteOptions } from "./encryption/rewrite.ts";
import type { StatusOptions } from "./encryption/status.ts";
import type { ReaderFiles } from "./open-reader.ts";
import type { RepairOptions } from "./repair.ts";
import type { RestoreOptions } from "./restore.ts";
import type { ShownFormat, ShowOptions } from "./show.ts";

/** The command `coxswain store`. */
export const storeCommand = defineSubcommand({
  name: "coxswain store",
  description:
    "Backs up, restores, checks and repairs the store in the --data-dir of a server, copies stores from and to etcd, displays them, and renews their encryption.",
  exitCodes: [
    [exitWhole, "no damage"],
    [exitDamaged, "succeeded, but something is damaged"],
    [exitFailed, "failed"],
  ],
  add(command, run) {
    addBackup(command, run);
    addRestore(command, run);
    addCheck(command, run);
    addRepair(command, run);
    addCopy(command, run);
    addShow(command, run);
    addEncryption(command, run);
    addRead(command);
  },
});

function addBackup(command: Command, run: Run): void {
  const backup = command
    .command("backup")
    .summary("writes a backup, also while the server runs")
    .description(
      "Writes all objects, as of one revision, to a new file that only its owner can read. A server that uses the directory is not blocked: it makes the backup itself, at the request of the user in the directory's kubeconfig. The backup contains Secrets, but no certificates, keys or history.",
    )
    .argument("<data-dir>", "the server's --data-dir")
    .argument("<file>", "the backup to write; must not exist")
    .addOption(outputOption())
    .action((dataDir: string, file: string, options: { output: OutputFormat }) =>
      run(async (output) => {
        const { backupStore } = await import("./backup.ts");
        return backupStore(dataDir, file, options.output, output);
      }),
    );
  addExamples(backup, ["store backup .coxswain monday.backup"]);
}

function addRestore(command: Command, run: Run): void {
  const restore = command
    .command("restore")
    .summary("creates a store from a backup")
    .description(
      "Creates the store of a data directory from a backup. The directory may be missing, and must not have a store. Revisions continue above all that the old store can have assigned, so that clients list all objects again.",
    )
    .argument("<file>", "the backup")
    .argument("<data-dir>", "the new --data-dir of the server")
    .addOption(bumpOption())
    .addOption(outputOption())
    .action((file: string, dataDir: string, options: RestoreOptions) =>
      run(async (output) => {
        const { restoreStore } = await import("./restore.ts");
        return restoreStore(file, dataDir, options, output);
      }),
    );
  addExamples(restore, ["store restore monday.backup new-data"]);
}

function addCheck(command: Command, run: Run): void {
  const check = command
    .command("check")
    .summary("finds damage")
    .description(
      "Reads a whole store, which no server may be using, or a backup, and reports damage. In etcd, which servers can use meanwhile, it decodes every object, and reports those of which that fails.",
    )
    .argument("<path>", "the server's --data-dir, a backup, or a URL of etcd");
  addReaderFiles(check)
    .addOption(outputOption())
    .action((path: string, options: ReaderFiles & { output: OutputFormat }) =>
      run(async (output) => {
        const { checkStore } = await import("./check.ts");
        return checkStore(path, options, output);
      }),
    );
  addExamples(check, ["store check .coxswain", "store check monday.backup", "store check etcd://127.0.0.1:2379"]);
}

const storeArgument = ["<store>", "a --data-dir that no server is using, or a URL of etcd as in copy"] as const;

function addShow(command: Command, run: Run): void {
  const get = command
    .command("get")
    .summary("displays an object")
    .description("Displays the object of a key, decoded, or as its bytes. It may be a Secret in plain text.")
    .argument(...storeArgument)
    .argument("<key>", "such as /registry/configmaps/default/name");
  addReaderFiles(get)
    .addOption(formatOption(["yaml", "json", "raw"], "yaml"))
    .action((store: string, key: string, options: ShowOptions) =>
      run(async (output) => (await import("./show.ts")).getKey(store, key, options, output)),
    );
  const list = command
    .command("list")
    .summary("lists keys or objects")
    .description(
      "Lists the keys with a prefix: revision, bytes and key, or with the decoded object, one a line in JSON. Damaged objects are listed with the reason.",
    )
    .argument(...storeArgument)
    .argument("[prefix]", "the start of the keys", "/registry/");
  addReaderFiles(list)
    .addOption(formatOption(["text", "json", "yaml"], "text"))
    .action((store: string, prefix: string, options: ShowOptions) =>
      run(async (output) => (await import("./show.ts")).listKeys(store, prefix, options, output)),
    );
  const history = command
    .command("history")
    .summary("lists the changes of a key")
    .description("Lists the changes of a key that have not been compacted, oldest first.")
    .argument(...storeArgument)
    .argument("<key>", "such as /registry/configmaps/default/name");
  addReaderFiles(history)
    .addOption(formatOption(["text", "json", "yaml"], "text"))
    .action((store: string, key: string, options: ShowOptions) =>
      run(async (output) => (await import("./show.ts")).showHistory(store, key, options, output)),
    );
  const stats = command
    .command("stats")
    .summary("counts objects and bytes by resource")
    .description("Counts the objects of each resource, and the bytes of their values, largest first.")
    .argument(...storeArgument);
  addEtcdFiles(stats)
    .addOption(outputOption())
    .action((store: string, options: ShowOptions) =>
      run(async (output) => (await import("./show.ts")).showStats(store, options, output)),
    );
  addExamples(get, ["store get .coxswain /registry/configmaps/default/settings"]);
  addExamples(list, ["store list .coxswain /registry/secrets/", "store list etcd://127.0.0.1:2379 -o json"]);
  addExamples(history, ["store history .coxswain /registry/configmaps/default/settings"]);
  addExamples(stats, ["store stats .coxswain"]);
}

function formatOption(formats: readonly ShownFormat[], byDefault: ShownFormat): Option {
  return new Option("-o, --output <format>", "the output format").choices(formats).default(byDefault);
}

function addEtcdFiles(command: Command): Command {
  return command
    .option("--cafile <file>", "PEM file with the authorities of etcd servers, for URLs without one")
    .option("--certfile <file>", "PEM file with the client certificate for etcd, for URLs without one")
    .option("--keyfile <file>", "PEM file with the key of --certfile, for URLs without one");
}

function addReaderFiles(command: Command): Command {
  return addEtcdFiles(command).option(
    "--encryption-provider-config <file>",
    "the EncryptionConfiguration of the server, with whose keys values are decrypted",
  );
}

const encryptionFile = ["--encryption-provider-config <file>", "the EncryptionConfiguration of the server"] as const;

function addEncryption(command: Command, run: Run): void {
  const encryption = command.command("encryption").summary("displays and renews the encryption of stored objects");
  const status = encryption
    .command("status")
    .summary("displays how objects are stored")
    .description(
      "Counts the objects of each resource by the provider and the key with which they are encrypted. With the configuration, it decrypts them all, and counts those that a write would store in another way (stale) and those that cannot be decrypted.",
    )
    .argument(...storeArgument)
    .option(...encryptionFile);
  addEtcdFiles(status)
    .addOption(outputOption())
    .action((store: string, options: StatusOptions) =>
      run(async (output) => (await import("./encryption/status.ts")).encryptionStatus(store, options, output)),
    );
  const rewrite = encryption
    .command("rewrite")
    .summary("encrypts all objects with the first key")
    .description(
      "Stores every object with the first key of the first provider of its resource. In a data directory, which no server may be using, a new file without history replaces the old one. In etcd, which servers can use meanwhile, objects that are stored in another way are written again, except those that expire by themselves; older revisions remain until etcd was compacted and defragmented.",
    )
    .argument(...storeArgument)
    .requiredOption(...encryptionFile);
  addEtcdFiles(rewrite)
    .addOption(outputOption())
    .action((store: string, options: RewriteOptions) =>
      run(async (output) => (await import("./encryption/rewrite.ts")).rewriteStore(store, options, output)),
    );
  addExamples(status, ["store encryption status .coxswain --encryption-provider-config encryption.yaml"]);
  addExamples(rewrite, ["store encryption rewrite .coxswain --encryption-provider-config encryption.yaml"]);
}

function addRepair(command: Command, run: Run): void {
  const repair = command
    .command("repair")
    .summary("creates a new store from the readable objects of a damaged one")
    .description(
      "Writes all readable objects to a new store and lists the others. The damaged store, which no server may be using, is not changed. Revisions continue above those of the damaged store.",
    )
    .argument("<data-dir>", "the server's --data-dir")
    .requiredOption("--to <data-dir>", "the directory of the new store; must not have a store")
    .option("--use-older", "write the latest readable revision of damaged objects")
    .addOption(bumpOption())
    .addOption(outputOption())
    .action((dataDir: string, options: RepairOptions) =>
      run(async (output) => {
        const { repairStore } = await import("./repair.ts");
        return repairStore(dataDir, options, output);
      }),
    );
  addExamples(repair, ["store repair .coxswain --to repaired"]);
}

function addCopy(command: Command, run: Run): void {
  const copy = command
    .command("copy")
    .summary("copies a store to another engine or place")
    .description(
      "Copies all objects of a store to a new store, and compares both. Stores are data directories, or prefixes of etcd: etcd://host:port[,host:port][/registry][?cafile=FILE&certfile=FILE&keyfile=FILE]; with https:// instead, TLS is used without these files. Servers can use a source in etcd meanwhile. No server may use the target before the copy ends. When the command is repeated after an interruption, it continues.",
    )
    .requiredOption(
      "--from <store>",
      "the data directory or URL to read; without --follow, no server may use the directory",
    )
    .requiredOption("--to <store>", "the data directory or URL to write; must have no objects");
  addEtcdFiles(copy)
    .option(
      "--follow",
      "follow the changes of a source in etcd until the signal USR2, or Enter on a terminal; copy a directory while a server uses it, and its changes after that server has stopped",
    )
    .option("--skip-damaged", "leave out objects that cannot be read, and list them")
    .addOption(
      new Option("--raise-max <number>", "the most writes that raise the revision of etcd above that of the source")
        .default(raiseMaxDefault)
        .argParser((text) => numberBetween(text, 0, revisionMax)),
    )
    .addOption(outputOption())
    .action((options: CopyCommandOptions) =>
      run(async (output) => {
        const { copyCommand } = await import("./copy.ts");
        return copyCommand(options, output);
      }),
    );
  addExamples(copy, [
    "store copy --from etcd://127.0.0.1:2379/registry --to .coxswain",
    "store copy --from .coxswain --to etcd://127.0.0.1:2379/registry --follow",
  ]);
}

/** A quarter of an hour at 10,000 writes each second. */
const raiseMaxDefault = 10_000_000;

/** The child process of `check`. */
function addRead(command: Command): void {
  command
    .command("read", { hidden: true })
    .argument("<store>")
    .action(async (dir: string) => {
      const { readForCheck } = await import("./check-reader.ts");
      await readForCheck(dir);
    });
}

function bumpOption(): Option {
  return new Option(
    "--bump-revision <number>",
    "distance of the first revision of the new store from the last known one",
  )
    .default(bumpDefault)
    .argParser((text) => numberBetween(text, 1, revisionMax - 1));
}

/** @throws InvalidArgumentError */
function numberBetween(text: string, min: number, max: number): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < min || number > max)
    throw new InvalidArgumentError(`It must be a number from ${min} to ${max}.`);
  return number;
}
