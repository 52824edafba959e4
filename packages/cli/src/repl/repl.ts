/**
 * A conversation on a terminal. The prompt appears at once; the daemon, the agent and earlier entries follow as they arrive. Messages typed
 * meanwhile wait in order.
 *
 * Three sources run side by side and only change the view: keys, transcript entries, and answers of the daemon. A message leaves through the
 * outbox and returns as an entry of the transcript, like the messages of others. The transcript is the only order of events.
 */
import { join } from "node:path";
import type { Conversation, PlacedEntry } from "@holdfast/contract/conversation/endpoints";
import type { Entry } from "@holdfast/contract/conversation/transcript";
import { HoldfastError } from "@holdfast/contract/errors";
import type { Session } from "@holdfast/contract/session/session";
import { reachedText } from "@holdfast/contract/usage/amounts";
import { userName } from "@holdfast/platform/user";
import { actingIn } from "@holdfast/sdk/acting";
import { isPerson } from "../attach/is-person.ts";
import type { Context } from "../command.ts";
import { SessionNames } from "../session/names.ts";
import { tellLooked } from "../session/viewed.ts";
import { hasColor } from "../text/color.ts";
import { cut, shortPath } from "../text/fit.ts";
import { plain } from "../text/plain.ts";
import { candidatesFor } from "./completion.ts";
import type { Desk } from "./desk.ts";
import { Editor, type Effect, type Key } from "./editor/editor.ts";
import { History } from "./editor/history.ts";
import { farewell } from "./farewell.ts";
import { Files } from "./files.ts";
import type { FootView } from "./foot.ts";
import { discard, type Opened, openConversation, refusalIn, type Wanted } from "./open.ts";
import { Outbox } from "./outbox.ts";
import { inertLine, inertLines, type Paint, painter, STYLE } from "./paint.ts";
import { runSlash } from "./slash.ts";
import { Stage } from "./stage.ts";
import { statusParts, statusRow } from "./status-line.ts";
import { type Followed, Talk } from "./talk.ts";
import { type Streams, TalkTerminal } from "./terminal.ts";
import { type Ask, ConversationView } from "./view.ts";

/** Turns shown of a conversation that is continued. */
const LAST_TURNS = 3;

/** A key meant for the input line must not answer a request that has just appeared. */
const GUARD_MS = 500;

/** Longest wait on leaving, if the conversation is not open yet. */
const LATE_MS = 3000;

export async function talk(context: Context, wanted: Wanted, streams: Streams = STANDARD): Promise<number> {
  const isTerminal = process.stdin.isTTY && process.stdout.isTTY;
  const isDumb = process.env.TERM === "dumb";
  if (streams === STANDARD && (!isTerminal || isDumb)) {
    const what = isTerminal ? "chat cannot draw on this terminal (TERM=dumb)" : "chat needs a terminal";
    throw new HoldfastError("not_a_terminal", what, { hint: "for a single turn: holdfast chat NAME -p TEXT" });
  }
  const repl = new Repl(context, { ...wanted, attended: isPerson() }, streams);
  return repl.run();
}

const STANDARD: Streams = { input: process.stdin, output: process.stdout };

class Repl implements Desk, Followed {
  readonly context: Context;
  readonly paint: Paint;
  readonly #painted: boolean;
  readonly #terminal: TalkTerminal;
  readonly #stage: Stage;
  readonly #editor: Editor;
  readonly #left = Promise.withResolvers<number>();
  #view: ConversationView;
  #outbox: Outbox;
  #opening: Promise<Opened>;
  #opened: Opened | undefined;
  #talk: Talk | undefined;
  #conversation: Conversation | undefined;
  #files: Files | undefined;
  readonly #names: SessionNames;
  #following = new AbortController();
  /** With a token, known only after the first message. */
  #me = actingIn(process.env).token ? "" : `user:${userName()}`;
  #notice: string | undefined;
  #trouble: string | undefined;
  #seenTurns = 0;
  /** True if the last key was Ctrl+C. */
  #armed = false;

  constructor(context: Context, wanted: Wanted, streams: Streams) {
    this.context = context;
    this.#names = new SessionNames(context.client);
    this.#painted = hasColor(streams.output);
    this.paint = painter(this.#painted);
    const owner = {
      onKey: (text: string | undefined, key: Key) => this.#pressed(text, key),
      onResize: () => this.#stage.change(),
      onSignal: (signal: NodeJS.Signals) => (signal === "SIGINT" ? this.#interrupt() : this.leave()),
      onStray: (text: string) => this.print(inertLines(text)),
    };
    this.#terminal = new TalkTerminal(owner, streams);
    this.#stage = new Stage({
      output: this.#terminal,
      look: () => this.#look(),
      moves: () => this.#view.turn !== null || this.#trouble !== undefined,
    });
    this.#editor = new Editor({
      history: new History(join(context.home.path, "chat-history")),
      complete: (text, cursor) => candidatesFor(text, cursor, { desk: this.#talk ? this : undefined, files: this.#files }),
      onChange: () => this.#stage.change(),
    });
    this.#view = this.#newView();
    this.#opening = this.#open(wanted);
    this.#outbox = this.#newOutbox();
    this.#stage.draw();
  }

  /** Runs until the person leaves. Throws a fatal error once the terminal is restored. */
  async run(): Promise<number> {
    let code: number;
    let waits = false;
    try {
      this.#opening.catch(this.#left.reject);
      code = await this.#left.promise;
    } finally {
      this.#stage[Symbol.dispose]();
      this.#following.abort();
      this.#terminal[Symbol.dispose]();
      waits = this.#outbox.waiting.length > 0;
      this.#outbox.close();
    }
    const late = new Promise<undefined>((resolve) => setTimeout(resolve, LATE_MS, undefined).unref());
    const opened = await Promise.race([this.#opening, late]).catch(() => undefined);
    const told = opened && (await farewell(this.context, opened, { anything: this.#view.lastSaid !== undefined, waits }));
    if (told) this.#terminal.write(`${told}\n`);
    return code;
  }

  get talk(): Talk {
    if (this.#talk) return this.#talk;
    throw new HoldfastError("daemon_unreachable", "the conversation is not ready yet", { hint: "try again in a moment" });
  }

  get view(): ConversationView {
    return this.#view;
  }

  get conversation(): Conversation | undefined {
    return this.#conversation;
  }

  print(lines: readonly string[]): void {
    this.#stage.print(lines);
  }

  say(text: string, options: { steer?: boolean } = {}): void {
    this.#outbox.put(text, options.steer ?? false);
    this.#stage.change();
  }

  async refresh(): Promise<Conversation> {
    const conversation = await this.talk.now();
    this.#conversation = conversation;
    this.#stage.change();
    return conversation;
  }

  async show(turns: number): Promise<string[]> {
    const view = this.#newView();
    const { entries } = await this.talk.lastTurns(turns);
    const lines = entries.flatMap(({ entry }) => view.push(entry));
    return [this.paint(STYLE.dim, "── so far ──"), ...lines, this.paint(STYLE.dim, "──")];
  }

  goTo(name: string): void {
    const before = this.#opened?.session.id;
    this.#following.abort();
    this.#following = new AbortController();
    this.#view = this.#newView();
    this.#conversation = undefined;
    this.#talk = undefined;
    this.#opening = this.#open({ existing: name, asItIs: true }).catch((error: unknown) => {
      this.#tell(error);
      // After a failed switch, return to the previous conversation.
      return this.#open({ existing: before, asItIs: true });
    });
    this.#opening.catch(this.#left.reject);
    this.#outbox.close();
    this.#outbox = this.#newOutbox();
  }

  leave(): void {
    this.#left.resolve(0);
  }

  /** Looks up an unknown sender's name before showing the entry. */
  onEntry({ entry }: PlacedEntry): void | Promise<void> {
    if (this.#names.knows(entry)) return this.#show(entry);
    return this.#names.learn(entry).then(() => this.#show(entry));
  }

  #show(entry: Entry): void {
    if (this.#isRefused(entry)) return;
    if (entry.type === "user") {
      this.#outbox.arrived(entry.message);
      if (!entry.steer) this.#seenTurns++;
    }
    this.print(this.#view.push(entry));
    if (entry.type === "turn_ended") this.#notice = undefined;
    if (entry.type === "turn_ended" || entry.type === "note" || entry.type.startsWith("usage")) void this.refresh().catch(() => {});
  }

  /** Discards the conversation if it was refused; nothing was said in it. */
  #isRefused(entry: Entry): boolean {
    const refusal = this.#opened && refusalIn(this.#opened, entry);
    if (!this.#opened || !refusal) return false;
    void discard(this.context, this.#opened).then(() => this.#left.reject(refusal));
    return true;
  }

  onTrouble(why: string | undefined): void {
    this.#trouble = why;
    this.#stage.change();
  }

  onEnd(session: Session): void {
    if (this.#conversation) this.#conversation = { ...this.#conversation, session };
    const budget = session.budget?.exceeded;
    const next = budget
      ? `budget: ${reachedText(budget)}; continue with a larger one: holdfast chat ${budget.of?.name ?? session.name} --budget ${budget.limit}=…`
      : "your next message restarts it, with the conversation so far";
    this.print([this.paint(STYLE.yellow, `■ the agent has ended (${session.status}); ${plain(next)}`)]);
  }

  get #name(): string {
    return (this.#conversation?.session ?? this.#opened?.session)?.name ?? "NAME";
  }

  #newView(): ConversationView {
    const { paint } = this;
    const width = () => this.#terminal.columns;
    return new ConversationView({
      width,
      paint,
      painted: this.#painted,
      me: () => this.#me,
      name: () => this.#name,
      sessionOf: (principal) => this.#names.of(principal),
      now: () => Date.now(),
    });
  }

  #newOutbox(): Outbox {
    const talk = this.#opening.then(() => this.talk);
    return new Outbox(talk, {
      onChange: () => this.#stage.change(),
      onTaken: ({ from }) => {
        this.#me = from;
      },
      onFailed: (said, error) => {
        this.#tell(error);
        void this.#giveBack(said.text, error);
      },
    });
  }

  /** Puts a refused message back into the input line. With a spent budget it would be refused again, so it stays only in the history. */
  async #giveBack(text: string, error: unknown): Promise<void> {
    const isSpent = HoldfastError.from(error).code === "budget_spent" || (await this.#budgetIsSpent());
    if (isSpent) this.print([this.paint(STYLE.dim, `  not sent: ${inertLine(text.split("\n")[0] ?? "")} (press Up to get it back)`)]);
    else if (this.#editor.isEmpty) this.#editor.set(text);
    this.#stage.change();
  }

  async #budgetIsSpent(): Promise<boolean> {
    const conversation = await this.refresh().catch(() => undefined);
    return Boolean(conversation?.session.budget?.exceeded);
  }

  async #open(wanted: Wanted): Promise<Opened> {
    const { signal } = this.#following;
    const opened = await openConversation(this.context, wanted);
    const { session } = opened;
    const talk = new Talk(this.context, session);
    const { entries, cursor, damaged } = await talk.lastTurns(LAST_TURNS);
    this.#opened = opened;
    this.#talk = talk;
    this.#files = new Files(session.cwd);
    this.#conversation = opened.conversation;
    this.#seenTurns = session.turns ?? 0;
    const head = `${plain(session.name)}: ${plain(session.agent)} in ${shortPath(session.cwd)} · /help · Ctrl+D leaves`;
    this.print([this.paint(STYLE.dim, head), ...opened.notes.map((note) => this.paint(STYLE.dim, `· ${plain(note)}`))]);
    if (damaged > 0) this.print([`· ${damaged} lines of its transcript cannot be read`]);
    for (const { entry } of entries) await this.#names.learn(entry);
    this.print(entries.flatMap(({ entry }) => (this.#isRefused(entry) ? [] : this.#view.push(entry))));
    void this.refresh().catch(() => {});
    void tellLooked(this.context, session.id);
    talk.follow(cursor, this, signal).catch(this.#left.reject);
    return opened;
  }

  #tell(error: unknown): void {
    const { message, hint, candidates } = HoldfastError.from(error);
    this.print([
      ...message.split("\n").map((line, index) => this.paint(STYLE.red, `${index === 0 ? "✗" : " "} ${inertLine(line)}`)),
      ...(candidates?.length ? [`  did you mean: ${candidates.map(plain).join(", ")}`] : []),
      ...(hint ? [this.paint(STYLE.dim, `  ${inertLine(hint)}`)] : []),
    ]);
  }

  async #try(act: () => Promise<unknown>): Promise<void> {
    try {
      await act();
    } catch (error) {
      this.#tell(error);
    }
    this.#stage.change();
  }

  #pressed(text: string | undefined, key: Key): void {
    const [ask] = this.#view.asks;
    if (ask && this.#editor.isEmpty && this.#isAnswer(ask, text, key)) {
      void this.#try(() => runSlash(this, `/approve ${text}`));
      return;
    }
    const effect = this.#editor.press(text, key);
    if (effect === "nothing") return;
    if (effect !== "interrupt") {
      this.#armed = false;
      this.#notice = undefined;
    }
    this.#act(effect);
    this.#stage.change();
  }

  #act(effect: Effect): void {
    if (effect === "submit") this.#submit();
    else if (effect === "interrupt") this.#interrupt();
    else if (effect === "leave") this.leave();
    else if (effect === "unfold") this.print(this.#view.unfold() ?? [this.paint(STYLE.dim, "· no tool output to expand yet")]);
    else if (effect === "redraw") this.#stage.redraw();
    else if (effect === "suspend") {
      this.#stage.clear();
      this.#terminal.suspend();
    }
  }

  #isAnswer(ask: Ask, text: string | undefined, { ctrl, meta }: Key): boolean {
    const isOne = text === "y" || text === "n" || (text === "a" && ask.canAlways);
    return isOne && !ctrl && !meta && Date.now() - ask.shownAt >= GUARD_MS;
  }

  #submit(): void {
    const text = this.#editor.take();
    if (text.trim() === "") return;
    if (text.startsWith("/") && !text.startsWith("//")) {
      void this.#try(async () => {
        if (!(await runSlash(this, text))) this.say(text);
      });
    } else this.say(text.replace(/^\/\//, "/"));
  }

  /** The first Ctrl+C cancels the turn or clears the line; the next one leaves. */
  #interrupt(): void {
    const wasArmed = this.#armed;
    this.#armed = true;
    if (wasArmed && this.#editor.isEmpty) this.leave();
    else if (this.#view.turn !== null && !wasArmed) {
      this.#notice = "cancelling …  Ctrl+C again leaves; the agent keeps working";
      void this.#try(() => this.#cancel());
    } else if (!this.#editor.isEmpty) {
      this.#editor.set("");
      this.#armed = false;
    } else if (this.#outbox.waiting.length > 0) {
      this.#notice = "withdrawn; Ctrl+C again leaves";
      void this.#try(() => this.#outbox.takeBack());
    } else this.#notice = "press Ctrl+C again, or Ctrl+D, to leave";
    this.#stage.change();
  }

  async #cancel(): Promise<void> {
    try {
      await this.talk.cancel();
    } catch (error) {
      if ((error as { code?: unknown }).code !== "cancel_ignored") throw error;
      this.#notice = "the agent ignores the cancellation; /stop ends it, Ctrl+C leaves";
    }
  }

  #look(): FootView {
    const { columns, rows } = this.#terminal;
    const { paint } = this;
    const edited = this.#editor.view(columns, Math.max(1, Math.floor(rows / 2)));
    const above = [...this.#view.live(), ...this.#waiting(columns), ...this.#question(columns)];
    if (this.#notice !== undefined) above.push(paint(STYLE.yellow, cut(this.#notice, columns)));
    const most = Math.max(0, rows - edited.rows.length - edited.menu.length - 3);
    // An empty row separates the conversation from the input. Nothing is drawn below the input: terminals disagree on the cursor's position when
    // rows below it wrap after a resize.
    const below = [...edited.menu, this.#status(columns)].map((row) => paint(STYLE.dim, row));
    const shown = [...(most > 0 ? above.slice(-most) : []), "", ...below];
    return { rows: [...shown, ...edited.rows], cursor: { row: shown.length + edited.cursor.row, column: edited.cursor.column } };
  }

  #waiting(columns: number): string[] {
    return this.#outbox.waiting.map(({ text, why }) => {
      // During a turn, the message simply waits for its end.
      const isPlain = why === null || this.#view.turn !== null;
      const state = this.#talk === undefined ? "waits" : isPlain ? "queued" : `queued, ${inertLine(why)}`;
      return this.paint(STYLE.dim, cut(`… ${state}: ${inertLine(text.split("\n")[0] ?? "")}`, columns));
    });
  }

  #question(columns: number): string[] {
    const [ask] = this.#view.asks;
    if (!ask) return [];
    return [this.paint(STYLE.yellow, cut(`? y allow · n deny${ask.canAlways ? " · a always" : ""} · /approve show`, columns))];
  }

  #status(columns: number): string {
    const parts = statusParts({
      session: this.#conversation?.session ?? this.#opened?.session,
      settings: this.#conversation?.settings ?? null,
      turns: Math.max(this.#seenTurns, this.#conversation?.session.turns ?? 0),
      others: this.#view.others,
      trouble: this.#trouble,
    });
    return statusRow(parts, columns - 1);
  }
}
