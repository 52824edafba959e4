/**
 * Moves one named terminal from one session to another, with the rights of the principal that attached it: the terminal shows only what that
 * principal may see, and accepts only what that principal may type. The requester of the move adds no rights.
 */
import { HoldfastError, nextWaiting, type Principal, type Session, type SessionId } from "@holdfast/contract";
import type { Rights } from "../../access/rights.ts";
import type { RunId } from "../../host/host.ts";
import type { SessionRecord } from "../../projection/session-queries.ts";
import { runOf } from "../run/running.ts";
import type { Attached, Attachments } from "./attachments.ts";
import { driverOf } from "./driving.ts";

export class Moving {
  readonly #cli: readonly string[];
  readonly #attachments: Pick<Attachments, "at">;
  readonly #rights: Rights;
  readonly #list: (within: SessionId | undefined) => Session[];

  constructor(options: {
    /** The command line of the CLI. */
    cli: readonly string[];
    attachments: Pick<Attachments, "at">;
    rights: Rights;
    /** Sessions that have not ended, in reach of that session. */
    list(within: SessionId | undefined): Session[];
  }) {
    this.#cli = options.cli;
    this.#attachments = options.attachments;
    this.#rights = options.rights;
    this.#list = options.list;
  }

  /** The terminal that pressed a key. */
  async pressing(run: RunId, { key, pid }: { key: string; pid: number }): Promise<Attached> {
    const found = (await this.#attachments.at(run)).find(({ client }) => client.key === key && client.pid === pid);
    // The daemon reads the keys of a terminal that it opened before the host sees them.
    if (found && !found.show) return found;
    throw new HoldfastError("not_attached", `no terminal ${key} of process ${pid} shows that session`);
  }

  /** The driving terminal at which a command was typed inside the run; undefined if there is none. */
  async typing(run: RunId, name: string): Promise<Attached | undefined> {
    const [found, ...others] = (await this.#attachments.at(run)).filter(({ client, attachment }) => {
      return !client.readOnly && attachment.role === "driver";
    });
    if (others.length === 0) return found;
    throw new HoldfastError("usage", `several terminals drive ${name}: it is not known which one to move`, {
      hint: "press the key for the next session in that terminal, or detach and attach to the other session",
    });
  }

  /** The session to which the key moves a terminal of this principal. */
  next(principal: Principal, current: SessionId, { chats }: { chats: boolean }): Session {
    const sessions = this.#list(this.#rights.within(principal));
    const next = nextWaiting(
      sessions.filter(({ kind, host }) => chats || (kind !== "conversation" && host !== "foreign")),
      { current },
    );
    if (next) return next;
    throw new HoldfastError("nothing_waits", "no other session waits for a person", {
      hint: "include idle sessions: holdfast next --idle",
    });
  }

  /** False if the terminal cannot be moved: its host does not support it, or it has detached. */
  async move({ host, client, attachment, show }: Attached, to: SessionRecord, asked: { readOnly: boolean }): Promise<boolean> {
    const { principal } = attachment;
    if (!this.#rights.maySee(principal, to.id)) {
      throw new HoldfastError("forbidden", `the terminal was attached by ${principal}, who may not see ${to.name}`, {
        hint: "attach from your own terminal",
      });
    }
    const mayOnlyLook = asked.readOnly || attachment.readOnly || !this.#rights.mayType(principal, to.id);
    if (show) {
      await show(to.id, { readOnly: mayOnlyLook });
      return true;
    }
    const isDriven = driverOf(to) !== undefined;
    if (host.name === to.host && to.kind !== "conversation")
      return host.switchClient(client, runOf(to), { readOnly: mayOnlyLook || isDriven });
    // The terminal's own process attaches, with the token that it attached with before.
    return host.handOver(client, ["HOLDFAST_MOVED=1", ...this.#cli, "attach", ...(mayOnlyLook ? ["--read-only"] : []), to.id]);
  }
}
