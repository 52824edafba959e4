export interface LaunchContext {
  /** The environment of the session. */
  env: Readonly<Record<string, string>>;
  /** The Node that runs the daemon. */
  node: string;
  /** The directory of Holdfast's own programs. */
  programs: string;
}

/** A program and its arguments. */
export type Command = readonly string[] | ((context: LaunchContext) => string[]);
