import { expect, test } from "vitest";
import type { Profile } from "./profile.ts";
import { aider } from "./profiles/aider.ts";
import { claude } from "./profiles/claude.ts";
import { codex } from "./profiles/codex.ts";
import { gemini } from "./profiles/gemini.ts";
import { opencode } from "./profiles/opencode.ts";
import { q } from "./profiles/q.ts";
import { qwen } from "./profiles/qwen.ts";
import { splitPrompt } from "./prompt-arguments.ts";

const own = (...prompt: string[]) => ({ name: "own", description: "", kind: "terminal", command: ["own"], prompt }) as Profile;

test.each<[Profile, string[], string[]]>([
  [claude, ["-p", "deploy"], []],
  [claude, ["deploy", "--model", "opus", "--print"], ["--model", "opus"]],
  [claude, ["--verbose", "deploy"], ["--verbose"]],
  [claude, ["--add-dir", "/a", "/b", "--verbose", "-p", "deploy"], ["--add-dir", "/a", "/b", "--verbose"]],
  [claude, ["--model=opus", "--", "-deploy"], ["--model=opus"]],
  [codex, ["-m", "o5", "deploy"], ["-m", "o5"]],
  [codex, ["-c", "a=b c", "exec", "--json", "deploy"], ["-c", "a=b c"]],
  [codex, ["resume", "abc", "deploy"], ["resume", "abc"]],
  [codex, ["resume", "--last", "deploy"], ["resume", "--last"]],
  [gemini, ["-p", "deploy", "-y"], ["-y"]],
  [gemini, ["--prompt-interactive=deploy", "-m", "pro"], ["-m", "pro"]],
  [gemini, ["-y", "deploy"], ["-y"]],
  [qwen, ["-i", "-deploy", "--system-prompt", "be brief"], ["--system-prompt", "be brief"]],
  [opencode, ["/code", "--prompt", "deploy"], ["/code"]],
  [opencode, ["run", "deploy"], []],
  [q, ["--trust-all-tools", "--no-interactive", "deploy"], ["--trust-all-tools"]],
  [aider, ["a.py", "-m", "deploy"], ["a.py"]],
  [own("{prompt}"), ["--fast", "deploy it now"], ["--fast"]],
  [own("--task={prompt}"), ["here", "--task=deploy"], ["here"]],
  [own("--task", "{prompt}"), ["here", "--task", "deploy"], ["here"]],
])("a prompt in the user's arguments is found, and only the prompt is removed (mend 11) %#", (profile, args, left) => {
  const { args: kept, said } = splitPrompt(profile, args);
  expect(kept).toEqual(left);
  expect(said.join(" ")).toMatch(/deploy/);
});

test.each<[Profile | undefined, string[]]>([
  [claude, ["--append-system-prompt", "be brief and kind", "--model", "opus", "--allowedTools", "Bash(git log:*)", "Edit"]],
  [claude, ["-p"]],
  [claude, ["--resume", "my session", "--settings", '{ "a": 1 }']],
  [codex, ["resume", "abc", "-c", "a = 1"]],
  [opencode, ["/code", "--model", "a/b"]],
  [own("--task={prompt}"), ["--model", "x", "file"]],
  [undefined, ["make", "deploy"]],
])("arguments without a prompt stay unchanged (mend 11) %#", (profile, args) => {
  expect(splitPrompt(profile, args)).toEqual({ args, said: [] });
});
