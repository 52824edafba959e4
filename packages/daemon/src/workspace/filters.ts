/** Filters that git does not run for us, as only the repository's own configuration defines them. */
import { type GitOptions, settingsLeftOut, tryGit } from "./git.ts";

/** By name. One of which the user's global configuration has a definition too is run by that one. */
export async function filtersLeftOut(tree: string, options: GitOptions): Promise<string[]> {
  const keys = (await settingsLeftOut(tree, options)).filter((key) => /^filter\..*\.(clean|smudge|process)$/.test(key));
  const names = new Set(keys.map((key) => key.slice("filter.".length, key.lastIndexOf("."))));
  const left: string[] = [];
  // `:(attr:…)` takes a plain name; any other cannot be in an attribute.
  for (const name of names) if (/^[\w-]+$/.test(name) && !(await isDefined(tree, name, options))) left.push(name);
  return left;
}

async function isDefined(tree: string, name: string, options: GitOptions): Promise<boolean> {
  const { code } = await tryGit(tree, ["config", "--get-regexp", `^filter\\.${name}\\.(clean|smudge|process)$`], options);
  return code === 0;
}
