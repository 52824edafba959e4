import { expect, test } from "vitest";
import type { Context } from "../command.ts";
import { command as stop } from "../commands/stop.ts";
import { parseCommandLine } from "../line/parse.ts";
import { oneName, selectionOf } from "./select.ts";

function selection(...argv: string[]) {
  return selectionOf(parseCommandLine(stop, argv));
}

test("names and filters become a request", () => {
  expect(selection()).toEqual({ names: undefined, all: false, status: undefined, agent: undefined });
  expect(selection("a", "b")).toMatchObject({ names: ["a", "b"] });
  expect(selection("--all")).toMatchObject({ all: true });
  expect(selection("--status", "done,lost", "--status", "failed")).toMatchObject({ status: ["done", "lost", "failed"] });
  expect(selection("--agent", "demo", "--agent", "shell,x")).toMatchObject({ agent: ["demo", "shell", "x"] });
});

test("an empty name or filter, as from an unset variable, is not dropped", () => {
  expect(selection("")).toMatchObject({ names: [""] });
  expect(selection("--agent", "")).toMatchObject({ agent: [""] });
  expect(() => selection("--status", "")).toThrow(expect.objectContaining({ code: "usage" }));
});

test("an unknown status is refused with the valid ones", () => {
  expect(() => selection("--status", "done,dead")).toThrow(
    expect.objectContaining({ code: "usage", candidates: expect.arrayContaining(["done", "lost"]) }),
  );
});

test("a verb for one session needs exactly one name", () => {
  const context = (...args: string[]) => ({ args }) as unknown as Context;
  expect(oneName(context("a"), "show NAME")).toBe("a");
  expect(() => oneName(context(), "show NAME")).toThrow(expect.objectContaining({ code: "usage", hint: "usage: holdfast show NAME" }));
  expect(() => oneName(context("a", "b"), "show NAME")).toThrow(expect.objectContaining({ code: "usage" }));
});
