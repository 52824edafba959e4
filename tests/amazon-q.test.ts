/** Amazon Q CLI, tested with a STAND-IN that follows its documentation (agents/src/amazon-q/stand-in.ts), not with the program itself. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Approval, Session } from "@holdfast/contract";
import { expect, test } from "vitest";
import { tokenOf } from "./as-session.ts";
import { TestHome } from "./home.ts";

const STAND_IN = path.join(import.meta.dirname, "../agents/src/amazon-q/stand-in.ts");

/** A home in which `q` is the stand-in. */
function withStandIn(): TestHome {
  const home = new TestHome();
  const programs = path.join(home.root, "programs");
  mkdirSync(programs);
  writeFileSync(path.join(programs, "q"), `#!/bin/sh\nexec '${process.execPath}' '${STAND_IN}' "$@"\n`, { mode: 0o755 });
  home.env.PATH = `${programs}:${home.env.PATH ?? ""}`;
  return home;
}

test("an Amazon Q stand-in is followed by its screen, prompted, allowed, cancelled and resumed (SYM-18 mend, mend 25)", async () => {
  await using home = withStandIn();
  const place = path.join(home.root, "place");
  mkdirSync(place);
  await home.ok(["spawn", "q", "--name", "api", "--cwd", place, "--prompt", "deploy to production"]);
  await home.until("api", ({ status }) => status === "working");
  await home.until("api", ({ status, turns }) => status === "idle" && turns === 1);
  expect(await home.session("api")).toMatchObject({ conversation: place, conversations: [{ turns: 1 }] });

  await home.ok(["send", "api", "first line\nsecond line"]);
  await home.until("api", ({ status, turns }) => status === "idle" && turns === 2);
  expect(await home.ok(["screen", "api"])).toContain("You said: first line");

  await home.ok(["send", "api", "run touch made.txt"]);
  const { attention } = await home.until("api", ({ status }) => status === "waiting");
  expect(attention).toMatchObject({ for: "approval", text: expect.stringContaining("touch made.txt") });
  expect(existsSync(path.join(place, "made.txt"))).toBe(false);
  await home.ok(["approvals", "allow", "api"]);
  await home.until("api", ({ status, turns }) => status === "idle" && turns === 3);
  expect(existsSync(path.join(place, "made.txt"))).toBe(true);

  await home.ok(["send", "api", "think 300s"]);
  await home.until("api", ({ status }) => status === "working");
  expect(await home.ok(["cancel", "api"])).toContain("api: interrupted");

  await home.ok(["stop", "api"]);
  expect(await home.json(["resume", "api"])).toMatchObject({ resumed: "conversation", prompt: null, state: "ready" });
  await home.until("api", ({ status }) => status === "idle");
  const screen = await home.ok(["screen", "api"]);
  expect(screen).toContain("Picking up where we left off");
  expect(screen).toContain("summarize our conversation");
  expect(screen.match(/You said: deploy/g) ?? []).toHaveLength(0);
});

test("a screen dialog is shown as it is, and an answer to another or truncated dialog presses no key (mend 6)", async () => {
  await using home = withStandIn();
  const place = path.join(home.root, "place");
  mkdirSync(place);
  await home.ok(["spawn", "q", "--name", "api", "--cwd", place, "--prompt", "run touch first.txt; : an aside"]);
  await home.until("api", ({ status }) => status === "waiting");
  const [first] = await home.json<Approval[]>(["approvals"]);
  expect(first).toMatchObject({
    channel: "screen",
    answers: ["allow", "deny"],
    text: expect.stringContaining("touch first.txt; : an aside"),
  });
  expect(await home.ok(["approvals", "show", "api"])).toContain("touch first.txt; : an aside");

  // The request is denied on the screen, and the agent asks for another one.
  await home.ok(["keys", "api", "n", "Enter"]);
  await home.until("api", ({ status }) => status === "idle");
  await home.ok(["send", "api", "run touch second.txt"]);
  await home.until("api", ({ status }) => status === "waiting");
  const late = await home.cli(["approvals", "allow", first?.id ?? ""]);
  expect(late.code).not.toBe(0);
  expect(late.stderr).toContain("was answered on the agent's own screen");
  using client = home.client();
  const [second] = await home.json<Approval[]>(["approvals"]);
  const body = { decision: "allow" as const, digest: first?.digest ?? "" };
  await expect(client.call("answerApproval", { params: { id: second?.id ?? "" }, body })).rejects.toMatchObject({
    code: "approval_changed",
  });

  // The request is longer than the screen, so its beginning cannot be read.
  const long = `run touch third.txt; : ${"aside ".repeat(2000)}`;
  await home.ok(["spawn", "q", "--name", "long", "--cwd", place, "--prompt", long]);
  await home.until("long", ({ status }) => status === "waiting");
  const third = (await home.json<Approval[]>(["approvals"])).find(({ name }) => name === "long");
  expect(third?.answers).toEqual([]);
  const partial = await home.cli(["approvals", "allow", "long"]);
  expect(partial.stderr).toContain("asks for more than its screen shows: answer it only there");
  for (const file of ["first.txt", "second.txt", "third.txt"]) expect(existsSync(path.join(place, file))).toBe(false);
});

test("two Amazon Q stand-in sessions in one directory share a conversation: Holdfast reports this and does not guess (mend 25)", async () => {
  await using home = withStandIn();
  await home.ok(["spawn", "q", "--name", "one"]);
  await home.until("one", ({ status }) => status === "idle");
  const second = await home.cli(["spawn", "q", "--name", "two", "--prompt", "hello"]);
  expect(second.stderr).toContain("keeps one conversation per directory, and one also works there");
  await home.until("two", ({ status, turns }) => status === "idle" && turns === 1);
  await home.ok(["stop", "two", "one"]);
  const refused = await home.cli(["resume", "two"]);
  expect(refused).toMatchObject({
    code: 6,
    stderr: expect.stringContaining("q keeps one conversation per directory, and one also worked in"),
  });
  const { conversation } = await home.session("two");
  expect(await home.json<Session>(["resume", "two", "--conversation", conversation ?? ""])).toMatchObject({ resumed: "conversation" });
});

test("a session neither learns the name of an unreachable session nor continues its conversation (mend 8)", async () => {
  await using home = withStandIn();
  await home.ok(["spawn", "q", "--name", "stranger"]);
  await home.until("stranger", ({ status }) => status === "idle");
  await home.ok(["run", "--name", "parent", "--", "sleep", "1000"]);
  const env = { HOLDFAST_TOKEN: await tokenOf(home, "parent") };
  const spawned = await home.cli(["spawn", "q", "--name", "child", "--prompt", "hello"], { env });
  expect(spawned.stderr).toContain("another session also works there");
  await home.until("child", ({ status, turns }) => status === "idle" && turns === 1);
  await home.ok(["stop", "child"], { env });
  const { conversation } = await home.session("child");
  for (const more of [[], ["--conversation", conversation ?? ""]]) {
    const refused = await home.cli(["resume", "child", ...more], { env });
    expect(refused).toMatchObject({ code: 6, stderr: expect.stringContaining("and another session also worked in") });
    expect(spawned.stderr + refused.stderr).not.toContain("stranger");
    expect(refused.stderr).not.toContain("--conversation");
  }
  expect(await home.json<Session>(["resume", "child", "--conversation", conversation ?? ""])).toMatchObject({ resumed: "conversation" });
});
