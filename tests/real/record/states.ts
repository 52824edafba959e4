/**
 * The states to record: how an agent gets into each, and how a person would describe it. The model and the words of the prompt show when the agent is
 * there, never the status rules: those are what the recordings test.
 */
import { BYPASSING, FIRST_START, type Mode, modeOf } from "../../accuracy/modes.ts";
import type { AgentName, Unusual } from "../agents.ts";
import type { Driver } from "./driver.ts";

/** `turn: null`: the agent has not started yet. */
export interface Expected {
  turn: "idle" | "working" | null;
  attention: { for: "approval" | "question" | "trust" | "login" | "rate_limit" } | null;
  background: boolean;
  /** The content of the composer; null if none takes typed text. */
  composer: "empty" | "draft" | null;
}

export interface State {
  name: string;
  about: string;
  /** Default: all agents. */
  agents?: readonly AgentName[];
  /** Changes to the usual set-up. */
  setUp?: Unusual;
  /** An unusual way to start the agent. */
  mode?: Mode;
  /** Recorded at the start of the agent, before any turn. */
  first?: true;
  expected: Expected;
  /** Agents that do not show this state. */
  differently?: Partial<Record<AgentName, Partial<Expected>>>;
  reach(driver: Driver): Promise<void>;
}

const idle: Expected = { turn: "idle", attention: null, background: false, composer: "empty" };
const working: Expected = { turn: "working", attention: null, background: false, composer: "empty" };

const drafted: Expected = { ...idle, composer: "draft" };

const SUBAGENT = JSON.stringify({
  description: "Look around",
  prompt: "tool shell ls",
  subagent_type: "general-purpose",
  run_in_background: false,
});

const WAITING = { description: "Look around", prompt: "wait 60s" };
const RUN_SUBAGENT: Partial<Record<AgentName, string>> = {
  claude: `Agent ${JSON.stringify({ ...WAITING, subagent_type: "general-purpose", run_in_background: false })}`,
  gemini: `invoke_agent ${JSON.stringify({ agent_name: "codebase_investigator", prompt: WAITING.prompt })}`,
  opencode: `task ${JSON.stringify({ ...WAITING, subagent_type: "general" })}`,
  qwen: `agent ${JSON.stringify({ ...WAITING, subagent_type: "general-purpose" })}`,
};

/** Gemini's loop detector needs the same 50 letters ten times. */
const LOOP = "round and round it goes ".repeat(18).trim();

export const STATES: State[] = [
  {
    name: "trust",
    about: "asks whether the directory may be trusted",
    agents: ["claude", "codex", "gemini", "qwen"],
    setUp: "untrusted",
    expected: { turn: null, attention: { for: "trust" }, background: false, composer: null },
    reach: (driver) => driver.settles(/trust/i),
  },
  {
    name: "login",
    about: "wants to be logged in",
    agents: ["claude", "codex", "gemini", "qwen"],
    setUp: "logged-out",
    expected: { turn: null, attention: { for: "login" }, background: false, composer: null },
    // Claude takes prompts and answers each with a request to log in.
    differently: { claude: { composer: "empty" } },
    reach: (driver) => driver.settles(/log ?in|sign in|auth|theme|connect a provider/i),
  },
  { name: "idle", about: "waits for a prompt", expected: idle, reach: (driver) => driver.ready() },
  {
    name: "working",
    about: "streams an answer",
    expected: working,
    async reach(driver) {
      await driver.prompt(`say ${driver.words.answer}; talk 60s`);
      await driver.model((asked) => asked.state === "open" && asked.answer.length > 25);
      await driver.shows(driver.words.answer);
    },
  },
  {
    name: "thinking",
    about: "waits for the model's first word",
    expected: working,
    async reach(driver) {
      await driver.prompt("wait 60s; say late");
      await driver.model((asked) => asked.state === "open");
      await driver.time(3000);
    },
  },
  {
    name: "tool",
    about: "runs a command that was allowed",
    expected: working,
    async reach(driver) {
      await driver.prompt("tool shell touch begun && tail -f /dev/null; say over");
      await driver.settles("tail -f", (asked) => asked.answer.some((part) => "call" in part));
      await driver.keys("Enter");
      await driver.runs("tail -f /dev/null");
      await driver.time(3000);
    },
  },
  {
    name: "approval",
    about: "asks whether it may run a command",
    expected: { turn: "working", attention: { for: "approval" }, background: false, composer: null },
    async reach(driver) {
      await driver.prompt(`say ${driver.words.answer}; tool shell touch ${driver.words.file}`);
      await driver.settles(driver.words.file, (asked) => asked.answer.some((part) => "call" in part));
    },
  },
  {
    name: "question",
    about: "asks a person to choose",
    expected: { turn: "working", attention: { for: "question" }, background: false, composer: null },
    async reach(driver) {
      await driver.ready();
      // Codex asks only in plan mode.
      if (driver.agent === "codex") await driver.keys("BTab");
      await driver.prompt(`ask ${driver.words.question} | Red | Blue`);
      await driver.settles("Choose Blue", (asked) => asked.answer.some((part) => "call" in part));
    },
  },
  {
    name: "answered",
    about: "has answered and waits for the next prompt",
    expected: idle,
    async reach(driver) {
      await driver.prompt(`say ${driver.words.answer}`);
      await driver.settles(driver.words.answer, (asked) => asked.state === "ended");
    },
  },
  {
    name: "quoting",
    about: "is idle, and its answer contains what agents say when they are not",
    expected: idle,
    async reach(driver) {
      await driver.prompt(driver.words.quote);
      await driver.settles(driver.words.quoteEnd, (asked) => asked.state === "ended");
    },
  },
  {
    name: "denied",
    about: "was denied a command by Esc and waits for the next prompt",
    expected: idle,
    async reach(driver) {
      await driver.prompt(`tool shell touch ${driver.words.file}`);
      await driver.settles(driver.words.file, (asked) => asked.answer.some((part) => "call" in part));
      await driver.keys("Escape");
      await driver.time(1500);
      await driver.settles(/./);
    },
  },
  {
    name: "interrupted",
    about: "was interrupted by Esc in mid-turn",
    expected: idle,
    // Qwen puts the prompt back.
    differently: { qwen: { composer: "draft" } },
    async reach(driver) {
      await driver.prompt(`say ${driver.words.answer}; talk 60s`);
      await driver.model((asked) => asked.state === "open" && asked.answer.length > 25);
      await driver.interrupt();
      await driver.settles(/./, (asked) => asked.state === "aborted");
    },
  },
  {
    name: "draft",
    about: "is idle, and somebody has half typed a prompt",
    expected: drafted,
    async reach(driver) {
      await driver.ready();
      await driver.type(driver.words.draft);
      await driver.settles(driver.words.draft);
    },
  },
  {
    name: "draft-start",
    about: "is idle, and somebody has half typed a prompt and gone back to its beginning",
    expected: drafted,
    async reach(driver) {
      await driver.ready();
      await driver.type(driver.words.draft);
      await driver.keys("C-a");
      await driver.settles(driver.words.draft);
    },
  },
  {
    name: "draft-lines",
    about: "is idle, and somebody has half typed a prompt of several lines",
    expected: drafted,
    async reach(driver) {
      await driver.ready();
      // Some agents show the lines, others their number.
      await driver.paste(`${driver.words.draft}\n\n- ${driver.words.file}\nand so on`);
      await driver.settles(/and so on|\[Pasted/);
    },
  },
  {
    name: "draft-working",
    about: "streams an answer while somebody half types the next prompt",
    expected: { ...working, composer: "draft" },
    async reach(driver) {
      await driver.prompt(`say ${driver.words.answer}; talk 60s`);
      await driver.model((asked) => asked.state === "open" && asked.answer.length > 10);
      await driver.type(driver.words.draft);
    },
  },
  {
    name: "menu",
    about: "is idle, and shows commands for a slash that somebody typed",
    expected: drafted,
    async reach(driver) {
      await driver.ready();
      await driver.keys("/");
      await driver.time(1000);
      await driver.settles(/\/\w+/);
    },
  },
  {
    name: "suggestion",
    about: "is idle, and suggests what could be typed next",
    agents: ["claude", "qwen"],
    setUp: "guessing",
    expected: idle,
    async reach(driver) {
      for (const answer of ["once", "twice", "three times"]) {
        await driver.prompt(`say ${answer}; suggest ${driver.words.suggestion}`);
        await driver.settles(answer, (asked) => asked.state === "ended");
      }
      await driver.settles(new RegExp(`^[❯>]\\s${driver.words.suggestion}`, "m"));
    },
  },
  {
    name: "usage-limit",
    about: "is told that all is used up for hours",
    setUp: "subscribed",
    expected: { turn: "idle", attention: { for: "rate_limit" }, background: false, composer: "empty" },
    differently: {
      // Gemini asks whether to stop.
      gemini: { turn: "working", composer: null },
      // opencode and Qwen keep retrying; Qwen does not show the limit.
      opencode: { turn: "working" },
      qwen: { turn: "working", attention: null },
    },
    async reach(driver) {
      await driver.prompt("limit 3h");
      await driver.model((asked) => asked.status === 429);
      await driver.time(6000);
      await driver.settles(/./);
    },
  },
  {
    name: "rate-limit",
    about: "was refused with 429 and a retry-after of 30 s, and tries again by itself",
    expected: { turn: "working", attention: { for: "rate_limit" }, background: false, composer: "empty" },
    // These screens show work or a retry, but no limit.
    differently: { claude: { attention: null }, gemini: { attention: null }, qwen: { attention: null } },
    async reach(driver) {
      await driver.prompt("error 429 retry-after 30");
      await driver.model((asked) => asked.status === 429);
      if (driver.agent === "codex") await driver.shows(/status: 429/);
      else await driver.time(8000);
    },
  },
  {
    name: "server-error",
    about: "got 500 from the model, and tries again by itself",
    expected: working,
    async reach(driver) {
      await driver.prompt("error 500");
      await driver.model((asked) => asked.status === 500);
      await driver.time(5000);
    },
  },
  {
    name: "refused",
    about: "got 401 from the model",
    expected: idle,
    // Claude retries.
    differently: { claude: { turn: "working" } },
    async reach(driver) {
      await driver.prompt("error 401");
      await driver.settles(/./, (asked) => asked.status === 401);
      await driver.time(2000);
    },
  },
  {
    name: "background",
    about: "is idle while a command it started runs in the background",
    agents: ["claude", "codex", "gemini", "qwen"],
    expected: { ...idle, background: true },
    async reach(driver) {
      await driver.prompt("tool background touch begun && tail -f /dev/null; say it runs now");
      await driver.settles("tail -f", (asked) => asked.answer.some((part) => "call" in part));
      await driver.keys("Enter");
      await driver.settles(/it runs now/, (asked) => asked.results.length > 0 && asked.state === "ended");
    },
  },
  {
    name: "queued",
    about: "streams an answer while another message waits for its end",
    // Codex takes the message at once.
    agents: ["claude", "gemini", "opencode", "qwen"],
    expected: working,
    async reach(driver) {
      await driver.prompt(`say ${driver.words.answer}; talk 60s`);
      await driver.model((asked) => asked.state === "open" && asked.answer.length > 10);
      await driver.type(driver.words.draft);
      await driver.keys("Enter");
      await driver.time(1500);
    },
  },
  {
    name: "subagent-running",
    about: "has started a subagent, which waits for the model",
    agents: ["claude", "gemini", "opencode", "qwen"],
    expected: working,
    // These agents move the command to the background, and their turn ends.
    differently: { claude: { turn: "idle", background: true }, qwen: { turn: "idle", background: true } },
    async reach(driver) {
      await driver.prompt(`tool ${RUN_SUBAGENT[driver.agent]}; say over`);
      await driver.model((asked) => asked.results.length > 0 || asked.answer.some((part) => "call" in part));
      if (driver.agent === "qwen") {
        await driver.settles("allow once");
        await driver.keys("Enter");
      }
      await driver.time(4000);
    },
  },
  {
    name: "subagent",
    about: "works on after a subagent, whose hooks came too, has stopped",
    agents: ["claude"],
    expected: working,
    async reach(driver) {
      await driver.prompt(`tool Agent ${SUBAGENT}; talk 60s`);
      await driver.model((asked) => asked.results.length > 0 && asked.state === "open" && asked.answer.length > 40);
    },
  },
  {
    name: "yolo",
    about: "waits for a prompt, in the mode in which it asks for nothing",
    mode: modeOf("yolo"),
    agents: ["claude", "gemini", "qwen"],
    expected: idle,
    reach: (driver) => driver.ready(),
  },
  {
    name: "no-color",
    about: "waits for a prompt, without colours",
    mode: modeOf("no-color"),
    agents: ["gemini"],
    expected: idle,
    reach: (driver) => driver.ready(),
  },
  {
    name: "vim",
    about: "waits for a prompt, in a composer like vim that takes text",
    mode: modeOf("vim"),
    first: true,
    agents: ["claude", "gemini"],
    expected: idle,
    reach: (driver) => driver.settles(/INSERT/),
  },
  {
    name: "german",
    about: "asks in German whether it may run a command",
    mode: modeOf("german"),
    first: true,
    agents: ["qwen"],
    expected: { turn: "working", attention: { for: "approval" }, background: false, composer: null },
    async reach(driver) {
      await driver.settles(/Nachricht eingeben/);
      await driver.type(`tool shell touch ${driver.words.file}`);
      await driver.keys("Enter");
      await driver.settles(/einmal erlauben/);
    },
  },
  {
    name: "loop",
    about: "has stopped an answer that repeats itself, and asks what to do about it",
    agents: ["gemini"],
    expected: { turn: "working", attention: { for: "question" }, background: false, composer: null },
    async reach(driver) {
      await driver.prompt(`say ${LOOP}`);
      await driver.settles(/A potential loop was detected/);
    },
  },
  {
    name: "bypass-warning",
    about: "warns of the mode in which it asks for nothing, and wants that accepted",
    mode: BYPASSING,
    first: true,
    agents: ["claude"],
    expected: { turn: null, attention: { for: "trust" }, background: false, composer: null },
    reach: (driver) => driver.settles(/Yes, I accept/),
  },
  {
    name: "theme",
    about: "has never been started, and asks how it is to look",
    mode: FIRST_START,
    first: true,
    agents: ["claude"],
    expected: { turn: null, attention: { for: "question" }, background: false, composer: null },
    reach: (driver) => driver.settles(/Dark mode/),
  },
];
