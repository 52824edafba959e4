/**
 * Attaching through the daemon, for those who cannot reach the session's keeper: another user of this machine, or a client over TCP. They
 * speak the holder protocol. On the native host the frames go to the holder and back, and only those of a viewer pass; on tmux the daemon has a
 * terminal with `tmux attach` in it. What they may do is decided here and kept by the keeper, whatever they send. Such an attachment ends
 * with the daemon and with its token.
 */
import { connect } from "node:net";
import type { Duplex } from "node:stream";
import {
  type AttachPlan,
  BYTES,
  decodeMessage,
  encodeFrame,
  encodeMessage,
  FrameReader,
  type FromHolder,
  LONGEST_TYPED,
  type Principal,
  type Scope,
  ToHolder,
} from "@holdfast/contract";
import { describe, type Home, inspect, log, minimalEnvironment } from "@holdfast/platform";
import type { AttachRequest } from "../projection/attachments.ts";
import type { Terminals } from "./terminals.ts";

/** How long a token that was revoked may still be at a terminal. */
const VALID_MS = 2000;

interface Comer {
  actor: Principal;
  scope: Scope;
  isValid(): boolean;
  readOnly: boolean;
  take: boolean;
  terminal: string | null;
  from: string | null;
}

type Vouch = (client: { pid: number; start: string }, request: AttachRequest) => Disposable;

export class RemoteTerminals {
  readonly #home: Home;
  readonly #terminals: Pick<Terminals, "attach">;
  readonly #vouch: Vouch;
  #count = 0;

  constructor(options: { home: Home; terminals: Pick<Terminals, "attach">; vouch: Vouch }) {
    this.#home = options.home;
    this.#terminals = options.terminals;
    this.#vouch = options.vouch;
  }

  /** What to do with the wire once it is theirs. */
  async open(ref: string, who: Comer): Promise<(wire: Duplex) => void> {
    const { actor, scope, readOnly, take } = who;
    const plan = await this.#terminals.attach(ref, { readOnly, take, from: null, actor, scope });
    return (wire) => {
      const timer = setInterval(() => who.isValid() || wire.destroy(), VALID_MS).unref();
      wire.on("close", () => clearInterval(timer)).on("error", () => wire.destroy());
      // Who has hung up hears nothing any more.
      wire.on("end", () => wire.destroy());
      wire.write(encodeMessage({ t: "attached", plan: { ...plan, command: null, socket: null } } satisfies FromHolder));
      const served = plan.socket === null ? this.#tmux(wire, plan, who) : this.#holder(wire, { plan, who, socket: plan.socket });
      served.catch((error: unknown) => {
        log(`attaching ${actor} to ${plan.session.id}: ${describe(error)}`);
        wire.destroy();
      });
    };
  }

  async #holder(wire: Duplex, { plan, who, socket }: { plan: AttachPlan; who: Comer; socket: string }): Promise<void> {
    // No process of theirs is known to us: a number that none has.
    const pid = -++this.#count;
    const vouched = this.#vouch({ pid, start: "" }, requestOf(plan, who));
    const holder = connect(socket);
    holder.on("error", () => wire.destroy()).on("close", () => wire.end());
    wire.on("close", () => {
      vouched[Symbol.dispose]();
      holder.destroy();
    });
    holder.pipe(wire, { end: false });
    read(wire, (type, payload) => {
      if (type === BYTES) return void holder.write(encodeFrame(BYTES, payload));
      const told = ToHolder.safeParse(decodeMessage(payload)).data;
      if (told?.t === "view") holder.write(encodeMessage({ ...told, pid, readOnly: plan.role === "observer" }));
      else if (told?.t === "resize" || told?.t === "refresh") holder.write(encodeMessage(told));
    });
  }

  async #tmux(wire: Duplex, plan: AttachPlan, who: Comer): Promise<void> {
    const { spawn } = await import("@lydell/node-pty");
    const [file = "", ...args] = plan.command ?? [];
    let pty: ReturnType<typeof spawn> | undefined;
    const start = ({ columns, rows }: { columns: number; rows: number }) => {
      const env = { ...minimalEnvironment(this.#home), TERM: "xterm-256color" };
      const opened = spawn(file, args, { name: env.TERM, cwd: "/", cols: columns, rows, env, encoding: null });
      const vouched = this.#vouch({ pid: opened.pid, start: inspect(opened.pid)?.start ?? "" }, requestOf(plan, who));
      // tmux itself sees to what they may type, also when that changes.
      wire.write(encodeMessage({ t: "part", readOnly: false } satisfies FromHolder));
      // With `encoding: null` the data are bytes; the type says otherwise.
      opened.onData((data) => {
        if (wire.write(encodeFrame(BYTES, data as unknown as Uint8Array))) return;
        opened.pause();
        wire.once("drain", () => opened.resume());
      });
      opened.onExit(() => {
        vouched[Symbol.dispose]();
        wire.end(encodeMessage({ t: "detached" } satisfies FromHolder));
      });
      wire.on("close", () => opened.kill("SIGHUP"));
      return opened;
    };
    read(wire, (type, payload) => {
      if (type === BYTES) return void pty?.write(Buffer.from(payload) as unknown as string);
      const told = ToHolder.safeParse(decodeMessage(payload)).data;
      if (told?.t === "view") pty ??= start(told);
      else if (told?.t === "resize") pty?.resize(told.columns, told.rows);
    });
  }
}

/** Without a pid of their own; who could not drive if they wanted to, never does by waiting. */
function requestOf(plan: AttachPlan, { actor, readOnly, take, terminal, from }: Comer): AttachRequest {
  const onlyLooks = readOnly || (plan.role === "observer" && plan.driver === null);
  return { actor, run: plan.session.runs, readOnly: onlyLooks, take: take && !onlyLooks, client: { pid: 0, start: "", terminal, from } };
}

/** A client's nonsense ends its own wire. */
function read(wire: Duplex, onFrame: (type: number, payload: Uint8Array) => void): void {
  const reader = new FrameReader(LONGEST_TYPED);
  wire.on("data", (chunk: Buffer) => {
    try {
      for (const { type, payload } of reader.push(chunk)) onFrame(type, payload);
    } catch {
      wire.destroy();
    }
  });
}
