/** Finds a Working Context by session, workspace or directory, and reads and writes it for remote people and agents. */

import { statSync } from "node:fs";
import { isAbsolute } from "node:path";
import { type ContextFileName, HoldfastError, type Principal, type SessionId, type WorkingContext } from "@holdfast/contract";
import type { Journal } from "../../journal/journal.ts";
import type { SessionQueries } from "../../projection/session-queries.ts";
import type { WorkspaceQueries } from "../../projection/workspaces.ts";
import { contextRoot, makeContext, readContext, writeContextFile } from "./context.ts";

/** `of`: the name, id or id prefix of a session or a workspace. `directory`: an absolute path. */
export interface ContextTarget {
  of?: string | undefined;
  directory?: string | undefined;
}

export class Contexts {
  readonly #journal: Journal;
  readonly #sessions: SessionQueries;
  readonly #workspaces: WorkspaceQueries;

  constructor(options: { journal: Journal; sessions: SessionQueries; workspaces: WorkspaceQueries }) {
    this.#journal = options.journal;
    this.#sessions = options.sessions;
    this.#workspaces = options.workspaces;
  }

  /** Returns the directory it belongs to, whether or not it exists yet. */
  rootOf({ of, directory }: ContextTarget): string {
    if ((of === undefined) === (directory === undefined)) throw new HoldfastError("usage", "name a session, a workspace or a directory");
    const root = contextRoot(directory === undefined ? this.#directoryOf(of ?? "") : absolute(directory));
    if (!statSync(root, { throwIfNoEntry: false })?.isDirectory()) {
      throw new HoldfastError("workspace_removed", `${root} is gone, and its Working Context with it`, {
        hint: "if it was a workspace: holdfast workspace recover",
      });
    }
    return root;
  }

  /** As `rootOf`, but only for a Working Context of these sessions; otherwise undefined. */
  rootAmong(target: ContextTarget, sessions: readonly SessionId[]): string | undefined {
    const own = sessions.flatMap((id) => this.#sessions.get(id) ?? []);
    const names = own.flatMap(({ id, name, workspace }) => [id, name, ...(workspace ? [workspace.id, workspace.name] : [])]);
    if (target.of !== undefined) return names.includes(target.of) ? this.rootOf(target) : undefined;
    const root = this.rootOf(target);
    return own.some(({ cwd }) => contextRoot(cwd) === root) ? root : undefined;
  }

  read(root: string): WorkingContext {
    return readContext(root);
  }

  /** Creates missing files. */
  make(root: string, actor: Principal): WorkingContext {
    const files = makeContext(root);
    if (files.length > 0) this.#journal.append({ type: "context.created", actor, session: null, data: { root, files } });
    return readContext(root);
  }

  write(
    root: string,
    { actor, file, ...how }: { actor: Principal; file: ContextFileName; text: string; digest?: string | null | undefined },
  ): WorkingContext {
    writeContextFile(root, file, how);
    const data = { root, file, bytes: Buffer.byteLength(how.text) };
    this.#journal.append({ type: "context.written", actor, session: null, data });
    return readContext(root);
  }

  #directoryOf(ref: string): string {
    const session = this.#sessions.byName(ref.normalize("NFC"));
    const workspace = session ? undefined : this.#workspaces.byName(ref);
    return session?.cwd ?? workspace?.path ?? this.#byId(ref);
  }

  #byId(ref: string): string {
    try {
      return this.#sessions.resolve(ref).cwd;
    } catch (error) {
      try {
        return this.#workspaces.resolve(ref).path;
      } catch {
        throw error;
      }
    }
  }
}

function absolute(directory: string): string {
  if (isAbsolute(directory)) return directory;
  throw new HoldfastError("cwd_unusable", `${JSON.stringify(directory)} is not an absolute path`);
}
