/**
 * `coxswain store`: backups and repair of the store. It loads only the storage engine, not the
 * server.
 */
import { type Command, InvalidArgumentError, Option } from "commander";
import type { Output } from "../output.ts";
import { type OutputFormat, outputOption, type Run, runSubcommands } from "../subcommands.ts";
import { bumpDefault, revisionMax } from "./contract.ts";
import type { RepairOptions } from "./repair.ts";
import type { RestoreOptions } from "./restore.ts";

/** Runs `coxswain store`. @param argv the arguments after `store` @returns the exit code */
export async function storeCommand(argv: readonly string[], output: Output): Promise<number> {
  return runSubcommands(group, argv, output, (command, run) => {
    addBackup(command, run);
    addRestore(command, run);
    addCheck(command, run);
    addRepair(command, run);
    addRead(command);
  });
}

const group = {
  name: "coxswain store",
  description: "Backs up, restores, checks and repairs the store in the --data-dir of a server.",
  exitCodes: "0 no damage, 1 succeeded, but something is damaged, 2 failed",
};

function addBackup(command: Command, run: Run): void {
  command
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
}

function addRestore(command: Command, run: Run): void {
  command
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
}

function addCheck(command: Command, run: Run): void {
  command
    .command("check")
    .summary("finds damage")
    .description("Reads a whole store, which no server may be using, or a backup, and reports damage.")
    .argument("<path>", "the server's --data-dir, or a backup")
    .addOption(outputOption())
    .action((path: string, options: { output: OutputFormat }) =>
      run(async (output) => {
        const { checkStore } = await import("./check.ts");
        return checkStore(path, options.output, output);
      }),
    );
}

function addRepair(command: Command, run: Run): void {
  command
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
}

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
    .argParser((text) => {
      const bump = Number(text);
      if (!/^\d+$/.test(text) || bump < 1 || bump >= revisionMax)
        throw new InvalidArgumentError(`It must be a number from 1 to ${revisionMax - 1}.`);
      return bump;
    });
}
