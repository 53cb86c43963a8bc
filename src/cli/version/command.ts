/** `coxswain version`: prints the versions of this program. */
import { apiRelease, versionBody } from "../../apimachinery/release.ts";
import { exitFailed } from "../exit-codes.ts";
import { addExamples, defineSubcommand, type OutputFormat, outputOption } from "../subcommands.ts";
import { packageVersion } from "../version.ts";

/** The command `coxswain version`. */
export const versionCommand = defineSubcommand({
  name: "coxswain version",
  description: "Prints the version of this program, of the Kubernetes API that it serves, and of its runtime.",
  exitCodes: [
    [0, "printed"],
    [exitFailed, "the command line is invalid"],
  ],
  add(command, run) {
    addExamples(command, ["version", "version -o json"])
      .addOption(outputOption())
      .action(({ output: format }: { readonly output: OutputFormat }) =>
        run(async ({ out }) => {
          out(format === "json" ? `${JSON.stringify(versions(), undefined, 2)}\n` : formatText(versions()));
          return 0;
        }),
      );
  },
});

interface Versions {
  readonly version: string;
  /** The `gitVersion` that a server answers at `/version`. */
  readonly kubernetes: string;
  readonly runtime: string;
  /** `linux/amd64` */
  readonly platform: string;
}

function versions(): Versions {
  return {
    version: `v${packageVersion}`,
    kubernetes: apiRelease.gitVersion,
    runtime: `node ${process.version}`,
    platform: versionBody().platform as string,
  };
}

function formatText({ version, kubernetes, runtime, platform }: Versions): string {
  return `Coxswain ${version}\nKubernetes ${kubernetes}\nRuntime ${runtime} ${platform}\n`;
}
