/** Options that name the user and the namespace of a request. */

import type { Command } from "commander";
import { FlagError } from "../flags/contract.ts";
import { collect } from "../subcommands.ts";

/** The values of `--as` and `--as-group`. */
export interface UserOptions {
  readonly as?: string;
  readonly asGroup?: readonly string[];
}

/** The value of `--namespace`. */
export interface NamespaceOption {
  readonly namespace?: string;
}

/**
 * Adds `--as` and `--as-group`.
 *
 * @param user the help of `--as`
 * @param group the help of `--as-group`, which says itself that it may be repeated
 */
export function addUserOptions(command: Command, { user, group }: { user: string; group: string }): Command {
  return command.option("--as <user>", user).option("--as-group <group>", group, collect);
}

/** @returns the user; undefined if the options name none @throws FlagError when they name only groups */
export function requestedUser({
  as: name,
  asGroup: groups = [],
}: UserOptions): { readonly name: string; readonly groups: readonly string[] } | undefined {
  if (name !== undefined) return { name, groups };
  if (groups.length > 0) throw new FlagError("--as-group needs --as");
  return undefined;
}

/** Adds `-n, --namespace`. */
export function addNamespaceOption(
  command: Command,
  help = "the namespace; if unset, that of the kubeconfig's context",
): Command {
  return command.option("-n, --namespace <namespace>", help);
}
