/** The states that are driven through, each from an agent at rest back to one. */
import { setTimeout as sleep } from "node:timers/promises";
import type { AgentName } from "../real/agents.ts";
import { type Drive, HOLD_MS } from "./drive.ts";
import { asks, shows } from "./words.ts";

export interface State {
  name: string;
  agents?: readonly AgentName[];
  /** Modes in which it is driven; without: all. */
  modes?: readonly string[];
  drive(drive: Drive): Promise<void>;
}

/** Modes in which a command is asked about. */
const ASKING = ["default", "edits", "vim", "light", "no-color", "german", "chinese"];

export const STATES: readonly State[] = [
  {
    name: "working",
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
    async drive(drive) {
      const { at } = await drive.works(`say ${drive.next()}; talk 100s`);
      await drive.sees("words", (picture) => shows(picture, "bababa"), at);
      await sleep(HOLD_MS);
      await drive.becomesIdle(await drive.interrupts());
      await clear(drive);
    },
  },
];

/** Some put an interrupted prompt back into the composer. */
async function clear(drive: Drive): Promise<void> {
  if (drive.agent === "qwen") await drive.keys("C-c");
}
