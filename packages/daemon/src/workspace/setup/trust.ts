/**
 * A repository may come from a stranger: the commands and copies in its files are run only after a person has trusted them. Trust is bound to the
 * repository and a hash of exactly those actions. The caller reads a project once, has it checked here, and does what it read, so nothing can
 * change in between.
 */
import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { HoldfastError, type Principal, type ProjectActions, type Trust, visible } from "@holdfast/contract";
import { shellWord } from "@holdfast/platform/shell";
import type { Journal } from "../../journal/journal.ts";
import type { TrustQueries } from "../../projection/trust.ts";
import { findRepository, type Repository } from "../git/repository.ts";
import { type Project, projectFile, readProject } from "./project.ts";

/** Shortest hash prefix accepted as a name. */
const SHORTEST_HASH = 6;

export class TrustedProjects {
  readonly #journal: Journal;
  readonly #queries: TrustQueries;

  constructor(options: { journal: Journal; queries: TrustQueries }) {
    this.#journal = options.journal;
    this.#queries = options.queries;
  }

  /** Throws `not_trusted` if a new workspace would run or copy something untrusted. */
  check(actions: ProjectActions | null): void {
    if (actions !== null && !this.isTrusted(actions)) throw notTrusted(actions);
  }

  isTrusted(actions: ProjectActions): boolean {
    return this.#queries.get(actions) !== undefined;
  }

  list(): Trust[] {
    return this.#queries.list();
  }

  async inspect(cwd: string): Promise<{ actions: ProjectActions | null; trusted: boolean }> {
    const actions = await actionsAt(cwd);
    return { actions, trusted: actions === null || this.isTrusted(actions) };
  }

  /** `hash`: the hash of the actions shown to the person who decides. */
  async add({ cwd, hash }: { cwd: string; hash: string }, actor: Principal): Promise<Trust> {
    refuseSession(actor);
    const actions = await actionsAt(cwd);
    if (actions === null)
      throw new HoldfastError("usage", `the project of ${cwd} requests no commands and no copies: there is nothing to trust`);
    if (actions.hash !== hash) throw notTrusted(actions, "changed since it was shown");
    const known = this.#queries.get(actions);
    if (known) return known;
    const { directory, setup, copy } = actions;
    this.#journal.append({ type: "trust.added", actor, session: null, data: { directory, hash, setup, copy } });
    return this.#queries.get(actions) as Trust;
  }

  /** Returns the trust that lets this agent trust the worktrees made of the repository for that principal. */
  ofAgent({ directory, agent, owner }: AgentTrust): Trust | undefined {
    return this.#queries.get({ directory, hash: agentHash(agent, owner) });
  }

  addAgent({ directory, agent, owner }: AgentTrust, actor: Principal): void {
    refuseSession(actor);
    if (this.ofAgent({ directory, agent, owner })) return;
    const data = { directory, hash: agentHash(agent, owner), setup: null, copy: [], agent: { name: agent, owner } };
    this.#journal.append({ type: "trust.added", actor, session: null, data });
  }

  revoke(ref: string, actor: Principal): Trust[] {
    refuseSession(actor);
    const path = realOrSame(ref);
    const named = this.list().filter(
      ({ directory, hash }) => directory === ref || directory === path || (ref.length >= SHORTEST_HASH && hash.startsWith(ref)),
    );
    if (named.length === 0)
      throw new HoldfastError("trust_not_found", `nothing is trusted under ${JSON.stringify(ref)}`, {
        hint: "list trusted projects: holdfast trust ls",
        candidates: [...new Set(this.list().map(({ directory }) => directory))].slice(0, 10),
      });
    const drafts = named.map(({ at: _, by: __, ...data }) => ({ type: "trust.revoked" as const, actor, session: null, data }));
    this.#journal.append(...drafts);
    return named;
  }
}

export interface AgentTrust {
  directory: string;
  agent: string;
  owner: Principal;
}

function agentHash(agent: string, owner: Principal): string {
  return createHash("sha256")
    .update(JSON.stringify(["holdfast agent 1", agent, owner]))
    .digest("hex");
}

/** Returns what creating a workspace would do on behalf of the project; null for nothing. `setup`: false skips the set-up command. */
export function actionsOf(
  project: Project,
  { directory, tree, setup = true }: { directory: string; tree: string | null; setup?: boolean },
): ProjectActions | null {
  const { asked } = project;
  const runs = asked.setup !== null && setup;
  if (tree === null || (!runs && asked.copy.length === 0)) return null;
  const hash = createHash("sha256")
    .update(JSON.stringify(["holdfast project 1", asked.setup, asked.copy]))
    .digest("hex");
  return { directory, tree, file: projectFile(tree), ...asked, hash };
}

async function actionsAt(cwd: string): Promise<ProjectActions | null> {
  const path = realDirectory(cwd);
  const repository = await findRepository(path);
  const place = placeOf(repository, path);
  return actionsOf(readProject(place.tree), place);
}

/** Returns the directory that trust is bound to, and the tree whose file is read. */
export function placeOf(repository: Repository | undefined, cwd: string): { directory: string; tree: string | null } {
  return repository ? { directory: repository.path, tree: repository.tree } : { directory: realOrSame(cwd), tree: cwd };
}

function notTrusted(actions: ProjectActions, why = "requests actions that nobody has trusted yet"): HoldfastError {
  const { tree, file, setup, copy } = actions;
  const lines = [
    ...(setup === null ? [] : [`run   ${visible(setup)}`]),
    ...(copy.length === 0 ? [] : [`copy  ${copy.map(visible).join(", ")}`]),
  ];
  return new HoldfastError("not_trusted", `${visible(file)} ${why}:\n  ${lines.join("\n  ")}`, {
    hint: `read it and trust it: holdfast trust add ${shellWord(tree)}; or pass --trust`,
    details: { ...actions },
  });
}

/** A session acts for an agent, and agents read text from repositories. */
function refuseSession(actor: Principal): void {
  if (!actor.startsWith("session:")) return;
  throw new HoldfastError("forbidden", "a session cannot change trust", { hint: "a person does: holdfast trust add DIR" });
}

function realDirectory(cwd: string): string {
  try {
    return realpathSync(cwd);
  } catch (cause) {
    throw new HoldfastError("cwd_unusable", `there is no directory ${cwd}`, { cause });
  }
}

function realOrSame(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
