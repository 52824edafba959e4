import { test } from "vitest";
import { answersOnlyWhatItWasAsked, BACKGROUND, FOREGROUND, waitsForItsSubagent } from "./subagents.ts";

test.each(FOREGROUND)("%s: a subagent neither ends its parent's turn nor answers for it (truth 12)", (agent) => waitsForItsSubagent(agent));

test.each(BACKGROUND)("%s: the turn after a subagent in the background answers no message (truth 8, truth 12)", (agent) =>
  answersOnlyWhatItWasAsked(agent),
);
