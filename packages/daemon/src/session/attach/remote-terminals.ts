/**
 * Terminals for people who cannot reach a session's keeper themselves: somebody with a token, another user, another machine. The daemon is the client
 * in their place, and acts as their principal.
 *
 * Input passes the daemon before any host sees it. The bytes of a principal that may not type stop here. Holdfast's own keys are read here and act on
 * this terminal alone. The key for the next session opens that session on the same connection, with every check of the first.
 */
import type { Duplex } from "node:stream";
import {
  type AttachPlan,
  BYTES,
  decodeMessage,
  encodeMessage,
  FrameReader,
  type FromHolder,
  HoldfastError,
  LONGEST_TYPED,
  type Principal,
  type Scope,
  ToHolder,
} from "@holdfast/contract";
import { describe, type Home, log, minimalEnvironment } from "@holdfast/platform";
import type { Rights } from "../../access/rights.ts";
import type { ClientKeys } from "../../host/keys.ts";
import type { AttachRequest } from "../../projection/attachments.ts";
import type { Attachments } from "./attachments.ts";
import { type Backend, type BackendListener, openHolder, openTmux, type Size } from "./backend.ts";
import { KeyReader } from "./key-reader.ts";
import type { Moving } from "./moving.ts";
import type { Terminals } from "./terminals.ts";

/** How long a terminal may stay open after its token was revoked. */
const VALID_MS = 2000;

/** A key sequence that the network split is complete by then; a lone Escape can wait this long unnoticed. */
const FORM_MS = 60;

interface Comer {
  actor: Principal;
  scope: Scope;
  isValid(): boolean;
  readOnly: boolean;
  take: boolean;
  terminal: string | null;
  from: string | null;
}

interface Deps {
  home: Home;
  terminals: Pick<Terminals, "attach">;
  attachments: Pick<Attachments, "vouch">;
  moving: Pick<Moving, "next">;
  rights: Rights;
  keys: ClientKeys;
}

export class RemoteTerminals {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** Returns a function that takes over the connection. */
  async open(ref: string, who: Comer): Promise<(wire: Duplex) => void> {
    const plan = await planFor(this.#deps, ref, who);
    return (wire) => new RemoteTerminal(this.#deps, { wire, who }).begin(plan);
  }
}

let count = 0;

class RemoteTerminal {
  readonly #deps: Deps;
  readonly #wire: Duplex;
  readonly #who: Comer;
  readonly #keys: KeyReader<"detach" | "next">;
  #plan: AttachPlan | undefined;
  #backend: Backend | undefined;
  #vouched: Disposable | undefined;
  #size: Size | undefined;
  #drives = false;
  #waiting = 0;
  #isGoing = false;
  /** Runs tasks one at a time: a backend is complete before it is replaced. */
  #last: Promise<unknown> = Promise.resolve();
  #flush: NodeJS.Timeout | undefined;

  constructor(deps: Deps, { wire, who }: { wire: Duplex; who: Comer }) {
    this.#deps = deps;
    this.#wire = wire;
    this.#who = who;
    this.#keys = new KeyReader({ detach: deps.keys.detachBytes, next: deps.keys.nextBytes });
  }

  begin(plan: AttachPlan): void {
    const wire = this.#wire;
    const timer = setInterval(() => this.#who.isValid() || wire.destroy(), VALID_MS).unref();
    wire.on("close", () => {
      clearInterval(timer);
      clearTimeout(this.#flush);
      this.#closeBackend();
    });
    wire.on("error", () => wire.destroy());
    // A client that has hung up hears nothing any more.
    wire.on("end", () => wire.destroy());
    this.#take(plan);
    const reader = new FrameReader(LONGEST_TYPED);
    wire.on("data", (chunk: Buffer) => {
      // Invalid input from a client ends only its own connection.
      try {
        for (const { type, payload } of reader.push(chunk)) this.#hear(type, payload);
      } catch {
        wire.destroy();
      }
    });
  }

  #hear(type: number, payload: Uint8Array): void {
    if (type === BYTES) {
      this.#typed(payload);
      return;
    }
    const told = ToHolder.safeParse(decodeMessage(payload)).data;
    if (told?.t === "view" && !this.#size) {
      this.#size = { columns: told.columns, rows: told.rows };
      this.#oneAtATime(() => this.#openBackend());
    } else if (told?.t === "resize") {
      this.#size = { columns: told.columns, rows: told.rows };
      this.#backend?.resize(this.#size);
    } else if (told?.t === "refresh") this.#backend?.refresh();
  }

  #typed(bytes: Uint8Array): void {
    clearTimeout(this.#flush);
    for (const { bytes: typed, key } of this.#keys.push(bytes)) {
      this.#pass(typed);
      if (key === "next") this.#goOn();
      if (key !== "detach") continue;
      this.#end({ t: "detached" });
      return;
    }
    if (this.#keys.holds) this.#flush = setTimeout(() => this.#pass(this.#keys.flush()), FORM_MS);
  }

  /** Input waits, up to a limit, while a session is being opened. */
  #pass(bytes: Uint8Array): void {
    if (bytes.length === 0 || !this.#size) return;
    if (this.#backend) {
      this.#write(bytes);
      return;
    }
    if (this.#waiting + bytes.length > LONGEST_TYPED) return;
    this.#waiting += bytes.length;
    this.#oneAtATime(async () => {
      this.#waiting -= bytes.length;
      this.#write(bytes);
    });
  }

  /** Checked each time: by now another person may have control, the token may be revoked, or the session may wait for an approval. */
  #write(bytes: Uint8Array): void {
    const session = this.#plan?.session.id;
    if (session && this.#drives && this.#deps.rights.mayType(this.#who.actor, session)) this.#backend?.write(bytes);
  }

  /** A repeated key moves to the next session one step at a time. */
  #goOn(): void {
    if (this.#isGoing) return;
    this.#isGoing = true;
    this.#oneAtATime(() =>
      this.#next().finally(() => {
        this.#isGoing = false;
      }),
    );
  }

  async #next(): Promise<void> {
    const current = this.#plan?.session.id;
    if (!current) return;
    try {
      await this.#show(this.#deps.moving.next(this.#who.actor, current, { chats: false }).id, this.#who);
    } catch (error) {
      // The key must not disconnect anybody.
      if (!(error instanceof HoldfastError)) throw error;
      this.#say({ t: "notice", text: error.message });
    }
  }

  async #show(session: string, { readOnly }: { readOnly: boolean }): Promise<void> {
    const plan = await planFor(this.#deps, session, { ...this.#who, readOnly: readOnly || this.#who.readOnly, take: false });
    this.#closeBackend();
    this.#take(plan);
    await this.#openBackend();
  }

  #take(plan: AttachPlan): void {
    this.#plan = plan;
    this.#drives = plan.role === "driver";
    this.#say({ t: "attached", plan: { ...plan, command: null, socket: null } });
  }

  async #openBackend(): Promise<void> {
    const plan = this.#plan;
    const size = this.#size;
    if (!plan || !size || this.#wire.destroyed) return;
    const backend = await this.#opened(plan, size);
    if (this.#wire.destroyed) return backend.close();
    this.#backend = backend;
    this.#vouched = this.#deps.attachments.vouch(backend.client, {
      request: requestOf(plan, this.#who),
      onPart: ({ readOnly }) => {
        if (this.#plan === plan) this.#drives = !readOnly;
      },
      show: (session, options) => this.#oneAtATime(() => this.#show(session, options)),
    });
  }

  async #opened(plan: AttachPlan, size: Size): Promise<Backend> {
    const listener: BackendListener = {
      frame: (frame) => this.#wire.write(frame),
      drained: (then) => void this.#wire.once("drain", then),
      ended: (last) => this.#end(last),
    };
    if (plan.socket !== null) {
      const readOnly = plan.role === "observer";
      return openHolder({ socket: plan.socket, pid: -++count, readOnly, size }, listener);
    }
    // tmux draws its own status bar, which says what the person may do.
    this.#say({ t: "part", readOnly: false });
    return openTmux({ command: plan.command ?? [], env: minimalEnvironment(this.#deps.home), size }, listener);
  }

  #closeBackend(): void {
    this.#backend?.close();
    this.#backend = undefined;
    this.#vouched?.[Symbol.dispose]();
    this.#vouched = undefined;
  }

  #end(last: FromHolder | undefined): void {
    this.#closeBackend();
    if (last) this.#say(last);
    this.#wire.end();
  }

  #say(message: FromHolder): void {
    if (!this.#wire.destroyed) this.#wire.write(encodeMessage(message));
  }

  #oneAtATime(work: () => Promise<void>): Promise<void> {
    const turn = this.#last.then(work);
    this.#last = turn.catch((error: unknown) => {
      log(`a terminal of ${this.#who.actor}: ${describe(error)}`);
      this.#wire.destroy();
    });
    return turn;
  }
}

/** Always acts as the principal that opened the terminal. */
async function planFor({ terminals, rights }: Deps, ref: string, who: Comer): Promise<AttachPlan> {
  const { actor, scope, readOnly, take } = who;
  const plan = await terminals.attach(ref, { readOnly, take, from: null, remote: true, actor, scope });
  if (!rights.maySee(actor, plan.session.id)) throw new HoldfastError("forbidden", `${actor} may not see ${plan.session.name}`);
  if (plan.session.host !== "foreign") return plan;
  // The user's own tmux keys and windows work there: it would give access to everything else in that tmux.
  throw new HoldfastError("not_in_reach", `${plan.session.name} runs in its user's own tmux, which others cannot attach to`, {
    hint: `read its screen: holdfast screen ${plan.session.name}; send a message: holdfast send ${plan.session.name}`,
  });
}

/** Without a pid. A person who could not drive even a free session never becomes the driver by waiting. */
function requestOf(plan: AttachPlan, { actor, readOnly, take, terminal, from }: Comer): AttachRequest {
  const onlyLooks = readOnly || (plan.role === "observer" && plan.driver === null);
  return { actor, run: plan.session.runs, readOnly: onlyLooks, take: take && !onlyLooks, client: { pid: 0, start: "", terminal, from } };
}
