import { test } from "vitest";
import { answersOnItsScreen } from "./answers.ts";

test.each(["qwen", "gemini"] as const)(
  "%s answers on its screen what the model says, and stop leaves no process of it",
  answersOnItsScreen,
);
