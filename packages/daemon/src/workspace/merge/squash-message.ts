/** The message of a squash commit. */
import type { Sides } from "../git/combine.ts";
import { type GitOptions, git } from "../git/git.ts";

/** Returns the message of a single commit, or the subjects of several under the workspace's name. Other authors stay credited. */
export async function squashMessage(name: string, { directory, base, tip, merged }: Sides, options: GitOptions): Promise<string> {
  const without = merged === undefined ? [] : [`^${merged}`];
  const log = (format: string) =>
    git(directory, ["log", "--reverse", "--no-merges", `--format=${format}`, tip, `^${base}`, ...without], options);
  const subjects = (await log("%s")).split("\n").filter((line) => line !== "");
  if (subjects.length === 1) return log("%B");
  const authors = await log("Co-authored-by: %an <%ae>%n%(trailers:key=Co-authored-by,unfold)");
  const self = await git(directory, ["var", "GIT_COMMITTER_IDENT"], options);
  const me = /<([^>]*)>/.exec(self)?.[1] ?? "";
  const others = new Set(authors.split("\n").filter((line) => line !== "" && !line.includes(`<${me}>`)));
  const body = subjects.map((subject) => `* ${subject}`).join("\n");
  const title = subjects.length === 0 ? `Merge ${name}` : `${name} (${subjects.length} commits)`;
  return [title, body, [...others].join("\n")].filter((part) => part !== "").join("\n\n");
}
