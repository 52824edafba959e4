/**
 * The common tests of every conversation driver: an agent that speaks the protocol, a command per turn, and the built-in agent on a model. Each is a
 * real process behind the holder's own code; a new driver only has to pass these tests.
 */
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { ConversationOrder, Entry, Principal } from "@holdfast/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Model, startModel } from "../agents/src/model/server.ts";
import { Agent } from "../packages/holder/src/conversation/agent.ts";
import { Conversation } from "../packages/holder/src/conversation/conversation.ts";
import { recall } from "../packages/holder/src/conversation/recall.ts";
import { Transcript } from "../packages/holder/src/conversation/transcript.ts";
import { eventually, ROOT } from "./home.ts";

const FROM = "user:tester" as Principal;
const CONTEXT = { first: 2, last: 10, tokens: 1000 };

interface Way {
  /** The program and its arguments, given the directory for its order file. */
  command(run: string): string[];
  env?(): Record<string, string>;
  /** Prompts that make it say "hello", repeat what it was told first, work for long, and fail. */
  hello: string;
  remember: string;
  recall: string;
  long: string;
  fails: string;
}

let model: Model;
beforeAll(async () => {
  model = await startModel();
});
afterAll(() => model[Symbol.asyncDispose]());

const node = (file: string, ...args: string[]) => [process.execPath, path.join(ROOT, file), ...args];

function ordered(run: string, order: object): string {
  const file = path.join(run, "order.json");
  writeFileSync(file, JSON.stringify(order));
  return file;
}

/** Repeats its input; a few words make it act differently. */
const COMMAND = `words=$(cat); case "\${words##*<prompt>}" in *"work long"*) echo begun; exec sleep 1000 ;; *"fail now"*) echo broken >&2; exit 3 ;; *) printf '%s' "$words" ;; esac`;

const WAYS: Record<string, Way> = {
  acp: {
    command: () => node("agents/src/demo.ts", "--acp"),
    hello: "say hello",
    remember: "remember periwinkle",
    recall: "recall",
    long: "say begun\nsleep 60000",
    fails: "fail",
  },
  exec: {
    command: (run) =>
      node(
        "packages/holder/src/agents/exec/main.ts",
        ordered(run, { command: ["sh", "-c", COMMAND], prompt: "stdin", answer: "plain", context: CONTEXT, system: null }),
      ),
    hello: "hello",
    remember: "say periwinkle",
    recall: "what did I say?",
    long: "work long",
    fails: "fail now",
  },
  model: {
    command: (run) =>
      node(
        "packages/holder/src/agents/model/main.ts",
        ordered(run, {
          api: "openai",
          endpoint: `${model.url}/v1`,
          model: "scripted",
          keyEnv: null,
          tools: null,
          context: CONTEXT,
          system: null,
        }),
      ),
    env: () => ({ OPENAI_API_KEY: "none" }),
    hello: "say hello",
    remember: "say periwinkle",
    recall: "recall",
    long: "say begun; talk 100s",
    fails: "error 401",
  },
};

/** One run of a conversation, in a session's directory. */
class Run implements AsyncDisposable {
  readonly directory: string;
  readonly agent: Agent;
  readonly conversation: Conversation;
  readonly #transcript: Transcript;
  #count = 0;
  exit: { code: number; signal: number } | undefined;

  constructor(way: Way, { root, number, conversation = null }: { root: string; number: number; conversation?: string | null }) {
    this.directory = path.join(root, "runs", String(number));
    const cwd = path.join(root, "project");
    mkdirSync(this.directory, { recursive: true });
    mkdirSync(cwd, { recursive: true });
    const env = { HOME: root, HOLDFAST_TRANSCRIPTS: path.join(root, "runs"), ...way.env?.() };
    const exports = Object.entries(env).map(([name, value]) => `export ${name}='${value}'`);
    const command = way.command(this.directory).map((word) => `'${word.replaceAll("'", `'\\''`)}'`);
    const launch = path.join(this.directory, "launch");
    writeFileSync(
      launch,
      [
        `cd '${cwd}'`,
        ...exports,
        'if [ -n "$HOLDFAST_BECOME" ]; then unset HOLDFAST_BECOME; exec "$@"; fi',
        `exec ${command.join(" ")}`,
        "",
      ].join("\n"),
    );
    this.#transcript = new Transcript(this.directory);
    const order: ConversationOrder = { cwd, conversation, mode: null, model: null, mcpServers: [] };
    this.agent = new Agent({
      launch,
      cwd,
      listener: {
        onUpdate: (update) => this.conversation.hear(update),
        onAsk: (request) => this.conversation.ask(request),
        onPrinted: (terminal, text) => this.conversation.printed(terminal, text),
        onError: () => {},
        onNonsense: () => {},
        onExit: (exit) => {
          this.exit = exit;
          this.conversation.end("the agent ended");
        },
      },
    });
    const recallHere = (words: string) => recall(this.directory, words);
    this.conversation = new Conversation({ order, transcript: this.#transcript, agent: this.agent, recall: recallHere });
  }

  get entries(): Entry[] {
    const file = readFileSync(path.join(this.directory, "transcript.jsonl"), "utf8");
    return file
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Entry);
  }

  of<T extends Entry["type"]>(type: T): Extract<Entry, { type: T }>[] {
    return this.entries.filter((entry): entry is Extract<Entry, { type: T }> => entry.type === type);
  }

  get said(): string {
    return this.of("text")
      .map(({ text }) => text)
      .join("");
  }

  async say(text: string, { steer = false } = {}): Promise<string> {
    const message = `m${++this.#count}`;
    await this.conversation.prompt({ t: "prompt", id: 1, message, from: FROM, text, addition: null, words: text, steer });
    return message;
  }

  /** Returns how the turn ended. */
  async turn(text: string): Promise<string> {
    const before = this.of("turn_ended").length;
    await this.say(text);
    return eventually(() => this.of("turn_ended")[before]?.reason);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.agent.kill();
    await eventually(() => this.exit !== undefined);
    this.#transcript[Symbol.dispose]();
  }
}

class Place implements Disposable {
  readonly path = realpathSync(mkdtempSync(path.join(tmpdir(), "hf-way-")));

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

describe.each(Object.entries(WAYS))("%s", (_, way) => {
  test("a turn is in the transcript from prompt to end, with numbered entries and its usage", async () => {
    using place = new Place();
    await using run = new Run(way, { root: place.path, number: 1 });
    expect(await run.turn(way.hello)).toBe("completed");
    expect(run.said).toContain("hello");
    expect(run.entries.map(({ n }) => n)).toEqual(run.entries.map((_, index) => index + 1));
    expect(run.of("user")).toMatchObject([{ message: "m1", from: FROM, text: way.hello, turn: "m1" }]);
    expect(run.of("note")[0]).toMatchObject({ about: "opened", conversation: expect.stringMatching(/./) });
    expect(run.of("usage").length).toBeGreaterThan(0);
    expect(run.conversation.state).toMatchObject({ ready: true, turn: null, asks: [] });
  });

  test("during a turn other prompts are refused, and a repeated prompt counts once", async () => {
    using place = new Place();
    await using run = new Run(way, { root: place.path, number: 1 });
    await run.say(way.long);
    await expect(run.say("other words")).rejects.toMatchObject({ code: "busy" });
    const again = { t: "prompt", id: 2, message: "m1", from: FROM, text: way.long, addition: null, words: way.long, steer: false } as const;
    await run.conversation.prompt(again);
    expect(run.of("user")).toHaveLength(1);
  });

  test("a cancelled turn keeps its partial answer, and the next turn starts", async () => {
    using place = new Place();
    await using run = new Run(way, { root: place.path, number: 1 });
    await run.say(way.long);
    await eventually(() => run.said.includes("begun"));
    expect(await run.conversation.cancel()).toBe(true);
    expect(await eventually(() => run.of("turn_ended")[0]?.reason)).toBe("cancelled");
    expect(run.said).toContain("begun");
    expect(await run.conversation.cancel()).toBe(false);
    expect(await run.turn(way.hello)).toBe("completed");
  });

  test("a steering message reaches the agent during a turn", async () => {
    using place = new Place();
    await using run = new Run(way, { root: place.path, number: 1 });
    await run.say(way.long);
    await eventually(() => run.said.includes("begun"));
    const steered = run.say(way.hello, { steer: true });
    // An agent that takes messages only between its steps has no such step here, so cancel.
    if (run.agent.steers) await run.conversation.cancel();
    await steered;
    await eventually(() => run.conversation.state.turn === null);
    expect(run.of("user").map(({ message, steer }) => [message, steer])).toEqual([
      ["m1", false],
      ["m2", true],
    ]);
  });

  test("a failed turn reports cause and remedy; the conversation continues", async () => {
    using place = new Place();
    await using run = new Run(way, { root: place.path, number: 1 });
    expect(await run.turn(way.fails)).toBe("failed");
    const [error] = run.of("error");
    expect(error?.message).toMatch(/\w{3,}/);
    expect(typeof error?.retry).toBe("boolean");
    expect(await run.turn(way.hello)).toBe("completed");
  });

  test("the next run remembers the previous one", async () => {
    using place = new Place();
    const first = new Run(way, { root: place.path, number: 1 });
    await first.turn(way.remember);
    const { conversation } = first.conversation.state;
    await first[Symbol.asyncDispose]();
    await using next = new Run(way, { root: place.path, number: 2, conversation });
    await next.turn(way.recall);
    expect(next.said).toContain("periwinkle");
  });

  test("after clear the agent has forgotten the conversation, but the transcript is complete", async () => {
    using place = new Place();
    await using run = new Run(way, { root: place.path, number: 1 });
    await run.turn(way.remember);
    await run.conversation.clear();
    const before = run.said.length;
    await run.turn(way.recall);
    expect(run.said.slice(before)).not.toContain("periwinkle");
    expect(run.of("note").map(({ about }) => about)).toContain("cleared");
    expect(run.of("user")[0]?.text).toContain("periwinkle");
  });

  test("an agent that exits during a turn leaves it marked as cut off, and takes no more prompts", async () => {
    using place = new Place();
    await using run = new Run(way, { root: place.path, number: 1 });
    await run.say(way.long);
    await eventually(() => run.said.includes("begun"));
    run.agent.kill();
    await eventually(() => run.exit !== undefined);
    expect(run.entries.slice(-2)).toMatchObject([{ type: "error" }, { type: "turn_ended", reason: "interrupted" }]);
    await expect(run.say("more")).rejects.toMatchObject({ code: "ended" });
  });
});
