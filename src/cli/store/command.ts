/** `coxswain store`: backups of what a server stores, and what to do about damage. It loads nothing of the server but its storage engine. */
import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { bumpDefault, exitFailed, exitWhole, type Output, type OutputFormat, revisionMax } from "./contract.ts";
import type { RepairOptions } from "./repair.ts";
import type { RestoreOptions } from "./restore.ts";

/** @param argv after `store` @returns the exit code */
export async function storeCommand(argv: readonly string[], output: Output): Promise<number> {
  let code = exitWhole;
  const command = new Command("coxswain store")
    .description("Backs up, restores, checks and repairs what a server keeps in the directory of its --data-dir.")
    .exitOverride()
    .configureOutput({ writeOut: output.out, writeErr: output.err });
  command
    .command("backup")
    .summary("a backup, also while the server runs")
    .description(
      "Writes all objects, as they are at one revision, into a new file, for its owner only. A server may run on the directory, and is not held up. The backup has Secrets in it, and no certificates, keys or history.",
    )
    .argument("<data-dir>", "the server's --data-dir")
    .argument("<file>", "to write; must not exist")
    .addOption(outputOption())
    .action(async (dataDir: string, file: string, options: { output: OutputFormat }) => {
      const { backupStore } = await import("./backup.ts");
      code = await backupStore(dataDir, file, options.output, output);
    });
  command
    .command("restore")
    .summary("a new store from a backup")
    .description(
      "Makes the store of a data directory from a backup. The directory may be missing, and must have no store yet. Revisions go on above all that the old store can have handed out, so that clients read everything anew.",
    )
    .argument("<file>", "the backup")
    .argument("<data-dir>", "for the server's --data-dir")
    .addOption(bumpOption())
    .addOption(outputOption())
    .action(async (file: string, dataDir: string, options: RestoreOptions) => {
      const { restoreStore } = await import("./restore.ts");
      code = await restoreStore(file, dataDir, options, output);
    });
  command
    .command("check")
    .summary("finds what is damaged")
    .description("Reads all of a store, while no server runs on it, or of a backup, and names what is damaged.")
    .argument("<path>", "the server's --data-dir, or a backup")
    .addOption(outputOption())
    .action(async (path: string, options: { output: OutputFormat }) => {
      const { checkStore } = await import("./check.ts");
      code = await checkStore(path, options.output, output);
    });
  command
    .command("repair")
    .summary("a new store from what is whole of a damaged one")
    .description(
      "Writes everything that is whole into a new store, while no server runs on the damaged one, which stays as it is, and lists what was left out. Revisions go on above those of the damaged store.",
    )
    .argument("<data-dir>", "the server's --data-dir")
    .requiredOption("--to <data-dir>", "where the new store goes; must have none yet")
    .option("--use-older", "write the latest older revision that can be read of what is damaged")
    .addOption(bumpOption())
    .addOption(outputOption())
    .action(async (dataDir: string, options: RepairOptions) => {
      const { repairStore } = await import("./repair.ts");
      code = await repairStore(dataDir, options, output);
    });
  command
    .command("read", { hidden: true })
    .argument("<store>")
    .action(async (dir: string) => {
      const { readForCheck } = await import("./check-reader.ts");
      await readForCheck(dir);
    });
  command.addHelpText("after", "\nExit codes: 0 all is whole, 1 done, and something is damaged, 2 not done.");
  try {
    await command.parseAsync(argv, { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitWhole : exitFailed;
    output.err(`Error: ${error instanceof Error ? error.message : String(error)}\n`);
    return exitFailed;
  }
  return code;
}

function outputOption(): Option {
  return new Option("-o, --output <format>", "the form of the answer").choices(["text", "json"]).default("text");
}

function bumpOption(): Option {
  return new Option("--bump-revision <number>", "how far above the last known revision the new store begins")
    .default(bumpDefault)
    .argParser((text) => {
      const bump = Number(text);
      if (!/^\d+$/.test(text) || bump < 1 || bump >= revisionMax)
        throw new InvalidArgumentError(`It must be a number from 1 to ${revisionMax - 1}.`);
      return bump;
    });
}
