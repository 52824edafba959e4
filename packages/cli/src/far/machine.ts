/** Determines the machine: `-H NAME`, `--machine NAME`, or HOLDFAST_MACHINE; and its settings in config.toml. */
import { readFileSync } from "node:fs";
import { HoldfastError } from "@holdfast/contract/errors";
import { configurationFile } from "@holdfast/platform/configuration-file";

export interface Machine {
  /** The name as the person typed it. */
  name: string;
  /** Destination for ssh: `user@machine`, a name from ~/.ssh/config, or ssh://user@machine:port. */
  destination: string;
  command: string | undefined;
}

/** Only before the command: later arguments belong to the command. */
export function splitMachine(argv: readonly string[]): { name: string | undefined; rest: string[] } {
  const [first = "", ...rest] = argv;
  if (first === "-H" || first === "--machine") return { name: named(rest[0]), rest: rest.slice(1) };
  if (first.startsWith("--machine=")) return { name: named(first.slice("--machine=".length)), rest };
  if (first.startsWith("-H")) return { name: named(first.slice(2)), rest };
  const name = process.env.HOLDFAST_MACHINE || undefined;
  if (name !== undefined && process.env.HOLDFAST_URL) {
    throw new HoldfastError("usage", "HOLDFAST_MACHINE and HOLDFAST_URL cannot be used together", { hint: "unset one of them" });
  }
  return { name: name === undefined ? undefined : named(name), rest: [...argv] };
}

function named(name: string | undefined): string {
  if (name === undefined || name === "") {
    throw new HoldfastError("usage", "-H needs a machine", { hint: "for example: holdfast -H user@machine ls" });
  }
  // ssh would take the name as an option, or a shell would split it.
  if (name.startsWith("-") || /[\s\p{Cc}'"`$\\;&|<>(){}!*?]/u.test(name)) {
    throw new HoldfastError("usage", `${JSON.stringify(name)} is not a machine`, { hint: "for example: holdfast -H user@machine ls" });
  }
  return name;
}

export async function findMachine(name: string): Promise<Machine> {
  const table = (await configuredMachines())[name];
  const text = (key: "ssh" | "command") => {
    const value = table?.[key];
    if (value === undefined || (typeof value === "string" && value !== "")) return value;
    throw new HoldfastError("usage", `${configurationFile()}: machines.${name}.${key} is not a text`, {
      hint: key === "ssh" ? 'for example: ssh = "user@machine"' : 'for example: command = "/opt/holdfast/bin/holdfast"',
    });
  };
  return { name, destination: named(text("ssh") ?? name), command: text("command") };
}

type Tables = Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>;

/** Reads the `[machines.NAME]` tables. */
export async function configuredMachines(): Promise<Tables> {
  let text: string;
  try {
    text = readFileSync(configurationFile(), "utf8");
  } catch {
    return {};
  }
  if (!text.includes("machines")) return {};
  const { parse } = await import("smol-toml");
  try {
    return ((parse(text) as { machines?: Tables }).machines ?? {}) as Tables;
  } catch (cause) {
    const [reason] = (cause as Error).message.split("\n");
    throw new HoldfastError("usage", `${configurationFile()} is not TOML: ${reason}`, { hint: "holdfast doctor shows the line", cause });
  }
}
