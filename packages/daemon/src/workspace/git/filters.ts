/** Filters that git does not run for Holdfast, because only the repository's own configuration defines them. */
import { type GitOptions, settingsLeftOut, tryGit } from "./git.ts";

/** Returns filter names. A filter that the user's global configuration also defines is not among them: git runs that definition. */
export async function filtersLeftOut(tree: string, options: GitOptions): Promise<string[]> {
  const keys = (await settingsLeftOut(tree, options)).filter((key) => /^filter\..*\.(clean|smudge|process)$/.test(key));
  const names = new Set(keys.map((key) => key.slice("filter.".length, key.lastIndexOf("."))));
  const left: string[] = [];
  // `:(attr:…)` takes a plain name. An attribute cannot have any other.
  for (const name of names) if (/^[\w-]+$/.test(name) && !(await isDefined(tree, name, options))) left.push(name);
  return left;
}

async function isDefined(tree: string, name: string, options: GitOptions): Promise<boolean> {
  const { code } = await tryGit(tree, ["config", "--get-regexp", `^filter\\.${name}\\.(clean|smudge|process)$`], options);
  return code === 0;
}
