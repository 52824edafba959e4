import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { nameOf, readFixtures } from "../fixtures/fixtures.ts";
import type { HookReading, Signal } from "../hooks/hook-rules.ts";
import { readHook } from "../hooks/hook-rules.ts";
import { readSignals } from "../hooks/signal-files.ts";
import { withEvidence } from "../status/evidence.ts";
import { fuse } from "../status/fuse.ts";
import { opencode } from "./opencode.ts";
import { OPENCODE_PLUGIN } from "./opencode-plugin.ts";

type Event = Record<string, unknown>;

/** The signals that the plugin writes for these events, in a new run directory. */
async function toldOf(events: readonly Event[]): Promise<Signal[]> {
  const { run, hear } = await pluginIn();
  for (const event of events) await hear(event);
  return [...readSignals(run)].flatMap(({ payload, at }) => readHook(opencode.hooks as HookReading, payload, at) ?? []);
}

async function pluginIn(client: object = {}): Promise<{ run: string; hear(event: Event): Promise<void> }> {
  const run = mkdtempSync(join(tmpdir(), "hf-plugin-"));
  onTestFinished(() => rmSync(run, { recursive: true }));
  for (const name of ["hooks", "signals"]) mkdirSync(join(run, name));
  writeFileSync(join(run, "hooks/plugin.mjs"), OPENCODE_PLUGIN);
  const { Holdfast } = (await import(join(run, "hooks/plugin.mjs"))) as {
    Holdfast(context: object): Promise<{ event(of: object): Promise<void> }>;
  };
  const plugin = await Holdfast({ client, worktree: "/code" });
  return { run, hear: (event) => plugin.event({ event }) };
}

/** Excludes permission requests and questions, which go through another script. */
const recorded = readFixtures().filter(
  ({ agent, hooks }) =>
    agent === "opencode" && hooks.length > 0 && !hooks.some(({ type }) => /^(permission|question)\./.test(String(type))),
);

test.each(recorded.map((fixture) => [nameOf(fixture), fixture] as const))(
  "the plugin reports %s, and nothing of its subagents",
  async (_, { hooks, expected }) => {
    const signals = await toldOf(hooks);
    const evidence = signals.reduce<ReturnType<typeof withEvidence>>(
      (all, { claim, event }, i) => withEvidence(all, { source: "hook", at: new Date(i * 1000).toISOString(), claim, what: event }),
      [],
    );
    expect(fuse(evidence).turn?.value ?? expected.turn).toBe(expected.turn);
    expect(new Set(signals.map(({ conversation }) => conversation)).size).toBeLessThanOrEqual(1);
  },
);

test("a turn is reported once, with its prompt and its answer", async () => {
  const sessionID = "ses_1";
  const status = (type: string) => ({ type: "session.status", properties: { sessionID, status: { type } } });
  const says = (role: string, id: string, text: string) => [
    { type: "message.updated", properties: { info: { id, role, sessionID } } },
    { type: "message.part.updated", properties: { part: { type: "text", messageID: id, sessionID, text } } },
  ];
  const signals = await toldOf([
    ...says("user", "m1", "go on"),
    status("busy"),
    status("busy"),
    ...says("assistant", "m2", "I"),
    ...says("assistant", "m2", "I went on"),
    status("busy"),
    status("idle"),
    status("idle"),
  ]);
  expect(signals.map(({ prompt, reply, claim }) => [claim.turn, prompt, reply])).toEqual([
    ["working", "go on", null],
    ["idle", null, "I went on"],
  ]);
});

test("a retry after a limit ends the limit only when the model answers (truth 2)", async () => {
  const sessionID = "ses_1";
  const status = (status: object) => ({ type: "session.status", properties: { sessionID, status } });
  const refused = (attempt: number) => status({ type: "retry", attempt, message: "Rate limit reached", next: attempt * 1000 });
  const part = (type: string) => ({ type: "message.part.updated", properties: { part: { type, messageID: "m2", sessionID, text: "" } } });
  const tries = [status({ type: "busy" }), refused(1), status({ type: "busy" }), part("step-start"), refused(2), status({ type: "busy" })];
  const claims = async (...more: object[]) =>
    (await toldOf([...tries, ...more] as Event[])).map(({ claim: { turn, attention } }) => `${turn} ${attention?.for ?? ""}`.trim());
  const limited = ["working", "working rate_limit", "working rate_limit"];
  expect(await claims()).toEqual(limited);
  expect(await claims(part("text"), part("text"))).toEqual([...limited, "working"]);
  expect(await claims(status({ type: "idle" }))).toEqual([...limited, "idle"]);
});

test("after a failed turn the agent is idle only at opencode's second idle event, since a prompt before it is never sent (truth 12)", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const sessionID = "ses_1";
  const status = (type: string) => ({ type: "session.status", properties: { sessionID, status: { type } } });
  const failed = { type: "session.error", properties: { sessionID, error: { data: { message: "Bad request" } } } };
  const { run, hear } = await pluginIn();
  const told = () =>
    [...readSignals(run)].flatMap(({ payload, at }) => readHook(opencode.hooks as HookReading, payload, at)?.claim.turn ?? []);
  for (const event of [status("busy"), failed, status("idle")]) await hear(event);
  expect(told()).toEqual(["working"]);
  await hear(status("idle"));
  expect(told()).toEqual(["working", "idle"]);
  // No second idle event is needed if another turn begins, or if nothing more comes in time.
  for (const event of [status("busy"), failed, status("idle"), status("busy")]) await hear(event);
  expect(told().slice(2)).toEqual(["working", "idle", "working"]);
  for (const event of [failed, status("idle")]) await hear(event);
  expect(told().slice(5)).toEqual([]);
  vi.runAllTimers();
  expect(told().slice(5)).toEqual(["idle"]);
});

test("a request contains its subject, and an invalid or refused answer ends nothing", async () => {
  const posted: string[] = [];
  const post = async ({ url }: { url: string }) => {
    posted.push(url);
    throw new Error("it is gone");
  };
  const { run, hear } = await pluginIn({ _client: { post } });
  const asks = (id: string) => ({ type: "permission.asked", properties: { id, permission: "read", patterns: [".env"], metadata: {} } });
  for (const answer of ["not JSON", '{"reply":"once"}']) {
    writeFileSync(join(run, "hooks/ask"), `cat > '${run}/asked'; printf '%s' '${answer}'; touch '${run}/${answer.length}'`);
    await hear(asks(`per_${answer.length}`));
    await vi.waitFor(() => expect(existsSync(join(run, String(answer.length)))).toBe(true), 5000);
  }
  await vi.waitFor(() => expect(posted).toEqual(["/permission/per_16/reply"]), 5000);
  const payload: unknown = JSON.parse(readFileSync(join(run, "asked"), "utf8"));
  const signal = readHook(opencode.hooks as HookReading, payload, new Date().toISOString(), true);
  expect(signal?.claim.attention?.text).toContain(".env");
});

test("a request about files names each of them, wherever the event has them", async () => {
  const { run, hear } = await pluginIn();
  writeFileSync(join(run, "hooks/ask"), `cat > '${run}/asked.part'; mv '${run}/asked.part' '${run}/asked'`);
  const about = async (properties: object): Promise<unknown> => {
    rmSync(join(run, "asked"), { force: true });
    await hear({ type: "permission.asked", properties: { id: "per_1", ...properties } });
    await vi.waitFor(() => expect(existsSync(join(run, "asked"))).toBe(true), 5000);
    const { metadata } = (JSON.parse(readFileSync(join(run, "asked"), "utf8")) as { properties: { metadata: { filepath?: unknown } } })
      .properties;
    return metadata.filepath;
  };
  expect(await about({ permission: "edit", patterns: ["src/a.ts"], metadata: { filepath: "/code/src/a.ts", diff: "" } })).toBe(
    "/code/src/a.ts",
  );
  const files = [{ filePath: "/code/src/a.ts", movePath: "/etc/passwd" }, { filePath: "/code/b" }];
  const patch = { permission: "edit", patterns: ["src/a.ts", "b"], metadata: { filepath: "src/a.ts, b", diff: "", files } };
  expect(await about(patch)).toEqual(["/code/src/a.ts", "/code/b", "/etc/passwd"]);
  expect(await about({ permission: "read", patterns: ["../.env"], metadata: {} })).toBe("/.env");
});
