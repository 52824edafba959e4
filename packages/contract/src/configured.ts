/** What `holdfast config` and the program that reads configuration files say to each other; and the shapes of its `--json`. */

export type ConfigurationSource = "default" | "user" | "project";

export interface ConfiguredValue {
  key: string;
  /** As TOML has it; null: it is not set, and has no default. */
  value: unknown;
  source: ConfigurationSource;
  /** Where it is written. */
  file: string | null;
  line: number | null;
}

export interface ConfigurationProblem {
  file: string;
  line: number | null;
  column: number | null;
  /** Null: the file as a whole. */
  key: string | null;
  /** `problem`: no daemon starts with it; `warning`: it is ignored. */
  level: "problem" | "warning";
  what: string;
  fix: string;
}

export interface ConfigurationPaths {
  user: string;
  /** Of the project that the directory is in. */
  project: string;
}

export type ConfigureRequest = { cwd: string } & (
  | { do: "show" | "paths" }
  | { do: "check" }
  | { do: "set"; key: string; value: string; project: boolean }
  /** A text that is to become the file. */
  | { do: "check text"; text: string; project: boolean }
);

export interface ConfigureReply {
  paths: ConfigurationPaths;
  /** Of `show`. */
  values?: ConfiguredValue[];
  /** Of `check` and `check text`. */
  problems?: ConfigurationProblem[];
  /** Every key with what it takes, for `get` and `set`. */
  known?: string[];
  /** Of `set`: what was written. */
  written?: ConfiguredValue;
}
