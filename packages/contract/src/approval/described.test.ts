import { expect, test } from "vitest";
import { changeIn, describeCall, describeTool } from "./described.ts";

const QUESTIONS = [{ question: "Which colour?", options: [{ label: "Red" }, { label: "Blue" }] }];

test("only the agent's own question tool is shown as a question (mend 6)", () => {
  expect(describeTool({ name: "AskUserQuestion", input: { questions: QUESTIONS } }, { asks: true })).toBe("Which colour? | Red | Blue");
  const bash = describeTool({ name: "Bash", input: { questions: QUESTIONS, command: "rm -rf ~" } });
  expect(bash).toMatch(/^Bash: rm -rf ~ · questions: .*Which colour/);
  expect(describeTool({ name: "mcp__x__run", input: { questions: QUESTIONS } })).toMatch(/^mcp__x__run: \{"questions":/);
});

test("the line includes arguments beside the main one (mend 6)", () => {
  expect(describeTool({ name: "shell", input: { command: "ls", cmd: "rm -rf ~", sandbox: false } })).toBe(
    "shell: ls · cmd: rm -rf ~ · sandbox: false",
  );
  expect(describeTool({ name: "Bash", input: { command: "make", description: "build it", timeout: 5000 } })).toBe("Bash: make");
  expect(describeTool({ name: "Bash", input: { command: "true # \n rm -rf ~ \u202e" } })).toBe("Bash: true # ␊ rm -rf ~ <U+202E>");
  expect(describeTool({ name: "Bash", input: { command: `echo ${"a".repeat(900)} | sh evil` } })).toMatch(/characters in all.*\| sh evil$/);
});

test("a command argument of another tool hides none of its arguments (mend 6)", () => {
  const input = { command: "ls", description: "the password is x", justification: "why", timeout: 5 };
  expect(describeTool({ name: "mcp__chat__post", input })).toBe(
    "mcp__chat__post: ls · description: the password is x · justification: why · timeout: 5",
  );
  expect(describeCall({ name: "chat_post", title: "", input })).toContain("description: the password is x");
  expect(describeCall({ name: "execute", title: "", input })).toBe("execute: ls");
});

test("an agent's title of a tool never hides its input (mend 6)", () => {
  const call = (title: string, input: unknown) => describeCall({ name: "execute", title, input });
  expect(call("List files", { command: "rm -rf ~" })).toBe("execute: rm -rf ~ · in the agent's words: “List files”");
  expect(call("`npm test`", { command: "npm test" })).toBe("execute: npm test");
  expect(call("npm", { command: "npm test" })).toContain("in the agent's words: “npm”");
  expect(call("Run\n\u202etests", null)).toBe("execute · in the agent's words: “Run␊<U+202E>tests”");
  const changes = [{ path: "/srv/a.ts", old: "a\nb\n", new: "c\n" }];
  expect(describeCall({ name: "edit", title: "Fix typo", input: {}, changes })).toBe(
    "edit: /srv/a.ts (−2 +1 lines) · in the agent's words: “Fix typo”",
  );
});

test("an edit is shown as a change of a file (mend 6)", () => {
  expect(changeIn({ file_path: "a", old_string: "x", new_string: "y", replace_all: true })).toEqual({
    change: { path: "a", old: "x", new: "y" },
    keys: ["file_path", "new_string", "old_string"],
  });
  expect(changeIn({ command: "x" })).toBeUndefined();
});
