/** The states to drive through. Each starts and ends with an idle agent. */
import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "../home.ts";
import type { AgentName, Unusual } from "../real/agents.ts";
import { type Drive, HOLD_MS } from "./drive.ts";
import { BYPASSING, FIRST_START, type Mode } from "./modes.ts";
import { asks, isLimited, shows } from "./words.ts";

export interface State {
  name: string;
  agents?: readonly AgentName[];
  /** The modes to drive this state in. Without them: the default mode, or all modes if `everywhere` is set. */
  modes?: readonly string[];
  /** Driven in every mode and at every width, because the screen differs there. */
  everywhere?: true;
  drive(drive: Drive): Promise<void>;
}

/** Modes in which an agent asks before it runs a command. */
const ASKING = ["default", "edits", "vim", "light", "no-color", "german", "chinese"];

export const STATES: readonly State[] = [
  {
    name: "working",
    everywhere: true,
    async drive(drive) {
      const { at } = await drive.works(`say ${drive.next()}; talk 4s`);
      await drive.becomesIdle(at);
    },
  },
  {
    name: "thinking",
    async drive(drive) {
      const { at } = await drive.works(`wait 4s; say ${drive.next()}`);
      await drive.becomesIdle(at);
    },
  },
  {
    name: "approval",
    everywhere: true,
    modes: ASKING,
    async drive(drive) {
      const name = drive.next();
      const { at } = await drive.works(`tool shell sh hold.sh ${name}; say it was done`);
      const asked = await drive.asks("a command", (picture) => asks(drive.agent, picture), at);
      drive.is("waiting for approval", asked.at);
      await drive.allows(asked);
      drive.is("working", await drive.begins(name));
      await sleep(HOLD_MS);
      await drive.becomesIdle(drive.letsGo(name));
    },
  },
  {
    name: "denied",
    modes: ASKING,
    async drive(drive) {
      const name = drive.next();
      const { at } = await drive.works(`tool shell sh hold.sh ${name}; say it was done`);
      const asked = await drive.asks("a command", (picture) => asks(drive.agent, picture), at);
      drive.is("waiting for approval", asked.at);
      const began = drive.ends();
      await drive.keys("Escape");
      await drive.becomesIdle(began);
    },
  },
  {
    name: "interrupted",
    everywhere: true,
    async drive(drive) {
      const { at } = await drive.works(`say ${drive.next()}; talk 100s`);
      await drive.sees("words", (picture) => shows(picture, "bababa"), at);
      await sleep(HOLD_MS);
      await drive.becomesIdle(await drive.interrupts());
      await clear(drive);
    },
  },
  {
    name: "tool",
    everywhere: true,
    modes: ["yolo"],
    async drive(drive) {
      const name = drive.next();
      await drive.works(`tool shell sh hold.sh ${name}; say it was done`);
      await drive.begins(name);
      await sleep(HOLD_MS);
      await drive.becomesIdle(drive.letsGo(name));
    },
  },
  {
    name: "question",
    everywhere: true,
    // Codex asks only in its plan mode.
    agents: ["claude", "gemini", "opencode", "qwen"],
    modes: ASKING,
    async drive(drive) {
      const { at } = await drive.works(`ask Which colour ${drive.next()}? | Red | Blue`);
      const asked = await drive.asks("a question", (picture) => shows(picture, "Choose Blue") && asks(drive.agent, picture), at);
      drive.is("waiting for question", asked.at);
      const began = drive.ends();
      await drive.keys("Escape");
      await drive.becomesIdle(began);
      await clear(drive);
    },
  },
  {
    name: "rate-limit",
    modes: ["default"],
    async drive(drive) {
      const { at } = await drive.works("error 429 retry-after 30");
      const limited = await eventually(() => drive.seen.first(isLimited, at), LIMITED_MS, 25).catch(() => undefined);
      // Without a message on the screen, an observer can only tell that the agent is working.
      if (limited !== undefined) drive.is("waiting for rate_limit", limited);
      await sleep(2 * HOLD_MS);
      await drive.becomesIdle(await drive.interrupts());
      await clear(drive);
      // The limit from the last turn is still on the screen.
      const next = await drive.works(`say ${drive.next()}; talk 4s`);
      await drive.becomesIdle(next.at);
    },
  },
  {
    name: "refused",
    // Claude retries for minutes.
    agents: ["codex", "gemini", "opencode", "qwen"],
    modes: ["default"],
    async drive(drive) {
      const { at } = await drive.works("error 401");
      await drive.becomesIdle(at);
    },
  },
  {
    name: "background",
    everywhere: true,
    agents: ["claude", "codex", "gemini", "qwen"],
    modes: ["yolo"],
    async drive(drive) {
      const name = drive.next();
      const { at } = await drive.works(`tool background sh hold.sh ${name}; say it runs now`);
      await drive.begins(name);
      const idle = await drive.rests(at);
      drive.is("idle", idle);
      drive.inBackground(true, idle);
      await sleep(HOLD_MS);
      // Some agents treat the end of the background process as a prompt, and work again.
      drive.ends();
      const ended = drive.letsGo(name);
      drive.inBackground(false, ended);
      await drive.becomesIdle(ended);
    },
  },
  {
    name: "plan",
    everywhere: true,
    agents: ["claude", "qwen"],
    modes: ["plan"],
    async drive(drive) {
      const tool = drive.agent === "claude" ? "ExitPlanMode" : "exit_plan_mode";
      const { at } = await drive.works(`tool ${tool} {"plan":"First ${drive.next()}"}`);
      const asked = await drive.asks("a plan", (picture) => asks(drive.agent, picture), at);
      drive.is("waiting for approval", asked.at);
      drive.ends();
      await drive.world.home.cli(["approvals", "allow", drive.session.name]);
      await sleep(HOLD_MS);
      const answered = Date.now();
      if (asks(drive.agent, drive.seen.last)) {
        // The agent did not take the answer.
        drive.is("waiting for approval", answered);
        await sleep(HOLD_MS);
        await drive.interrupts();
      }
      await drive.becomesIdle(answered);
    },
  },
  {
    name: "loop",
    agents: ["gemini"],
    modes: ["default"],
    async drive(drive) {
      const { at } = await drive.works(`say ${"round and round it goes ".repeat(18).trim()}`);
      drive.is("waiting for question", await drive.sees("the dialog", (picture) => shows(picture, "A potential loop was detected"), at));
      await sleep(HOLD_MS);
      await drive.becomesIdle(await drive.interrupts());
    },
  },
  {
    name: "delivery",
    everywhere: true,
    async drive(drive) {
      await drive.delivers(`say ${drive.next()}`);
      await drive.becomesIdle(Date.now());
    },
  },
];

/** Dialogs at the start of an agent, each in its own session. */
export interface Beginning {
  name: string;
  agents: readonly AgentName[];
  unusual?: Unusual;
  mode?: Mode;
  shows: RegExp;
  is: string;
}

export const BEGINNINGS: readonly Beginning[] = [
  { name: "trust", agents: ["claude", "codex", "gemini", "qwen"], unusual: "untrusted", shows: /trust/i, is: "waiting for trust" },
  {
    name: "login",
    agents: ["codex", "gemini", "qwen"],
    unusual: "logged-out",
    shows: /sign in with|connect a provider/i,
    is: "waiting for login",
  },
  { name: "bypass warning", agents: ["claude"], mode: BYPASSING, shows: /Yes, I accept/, is: "waiting for trust" },
  { name: "theme picker", agents: ["claude"], mode: FIRST_START, shows: /Dark mode/, is: "waiting for question" },
];

/** An agent that shows a limit shows it by then. */
const LIMITED_MS = 12_000;

/** Some agents put an interrupted prompt back into the composer. */
async function clear(drive: Drive): Promise<void> {
  if (drive.agent === "qwen") await drive.keys("C-c");
}
