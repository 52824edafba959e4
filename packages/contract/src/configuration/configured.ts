/** Messages between `holdfast config` and the program that reads configuration files, and the shapes of its `--json` output. */

export type ConfigurationSource = "default" | "user" | "project";

export interface ConfiguredValue {
  key: string;
  /** The value as in TOML; null: not set, without a default. */
  value: unknown;
  source: ConfigurationSource;
  /** The file that sets the value. */
  file: string | null;
  line: number | null;
}

export interface ConfigurationProblem {
  file: string;
  line: number | null;
  column: number | null;
  /** Null: the problem concerns the whole file. */
  key: string | null;
  /** `problem`: no daemon starts with it; `warning`: the setting is ignored. */
  level: "problem" | "warning";
  what: string;
  fix: string;
}

export interface ConfigurationPaths {
  user: string;
  /** File of the project that contains the directory. */
  project: string;
}

export type ConfigureRequest = { cwd: string } & (
  | { do: "show" | "paths" }
  | { do: "check" }
  | { do: "set"; key: string; value: string; project: boolean }
  /** Checks a text before it becomes the file. */
  | { do: "check text"; text: string; project: boolean }
);

export interface ConfigureReply {
  paths: ConfigurationPaths;
  /** Result of `show`. */
  values?: ConfiguredValue[];
  /** Result of `check` and `check text`. */
  problems?: ConfigurationProblem[];
  /** Every key with the values it accepts, for `get` and `set`. */
  known?: string[];
  /** The value that `set` wrote. */
  written?: ConfiguredValue;
}
