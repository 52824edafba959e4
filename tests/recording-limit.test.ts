import { type ChildProcessWithoutNullStreams, execFileSync } from "node:child_process";
import { readdirSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { AnyEvent, Session } from "@holdfast/contract";
import { describe, expect, test } from "vitest";
import { eventually, HOLDFAST, TestHome } from "./home.ts";

const MB = 1 << 20;

/** Numbered lines of 32 bytes: the offset determines each byte of the recording. */
const LINE = 32;

function lineAt(offset: number): string {
  return `${String(offset / LINE).padStart(29, "0")}.\r\n`;
}

/** A script that prints that many megabytes of lines, from a file. */
function flood(home: TestHome, megabytes: number): string {
  const file = path.join(home.root, `${megabytes}.txt`);
  writeFileSync(file, Array.from({ length: (megabytes * MB) / LINE }, (_, index) => lineAt(index * LINE)).join(""));
  return `stty -opost -echo; cat ${file}`;
}

function files(home: TestHome, session: Session, run = 1): string {
  return path.join(home.path, "sessions", session.id, "runs", String(run));
}

function kept(home: TestHome, session: Session): { bytes: number; first: string | undefined } {
  const directory = files(home, session);
  const names = readdirSync(directory)
    .filter((name) => name.startsWith("output"))
    .sort();
  return { bytes: names.reduce((sum, name) => sum + statSync(path.join(directory, name)).size, 0), first: names[0] };
}

async function events(home: TestHome, name: string, type: string): Promise<AnyEvent[]> {
  const text = await home.ok(["events", "--session", name, "--type", type]);
  return text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as AnyEvent);
}

function raw(home: TestHome, name: string): Buffer {
  const options = { env: home.env, cwd: home.root, maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "ignore"] } as const;
  return execFileSync(HOLDFAST, ["logs", "--raw", name], { ...options, stdio: [...options.stdio] });
}

describe.each(["tmux", "native"])("on the %s host", (host) => {
  test("beyond the limit the newest output is kept at its exact offset, and the cut is reported", async () => {
    await using home = new TestHome();
    await home.run(flood(home, 12), "--host", host, "--name", "flood", "--recording-limit", "4M");
    const session = await home.ended("flood");
    expect(session).toMatchObject({ recordingLimitBytes: 4 * MB, status: "done" });
    const begins = session.recordingCutBytes;
    expect(begins).toBeGreaterThanOrEqual(8 * MB);
    expect(begins % MB).toBe(0);
    expect(kept(home, session)).toEqual({ bytes: 12 * MB - begins, first: path.basename(session.outputPath ?? "") });

    const bytes = raw(home, "flood");
    expect(bytes.length).toBe(12 * MB - begins);
    expect(bytes.toString("latin1", 0, LINE)).toBe(lineAt(begins));
    expect(bytes.toString("latin1", bytes.length - LINE)).toBe(lineAt(12 * MB - LINE));

    const text = await home.ok(["logs", "flood"]);
    expect(text.slice(0, text.indexOf("\n"))).toBe(`… ${begins / MB} MB of earlier output were deleted (limit 4 MB)`);
    expect(await home.ok(["logs", "flood", "--tail", "1"])).toBe(`${lineAt(12 * MB - LINE).trim()}\n`);
    expect(JSON.parse((await home.ok(["logs", "flood", "--json"])).split("\n")[0] ?? "")).toEqual({
      deleted: { bytes: begins, limitBytes: 4 * MB },
    });
    expect(await home.ok(["show", "flood"])).toContain(`the newest 4 MB of each run; the first ${begins / MB} MB were deleted`);

    const cuts = await events(home, "flood", "recording.cut");
    // Each cut removes an eighth of the limit or a whole segment; their number depends on the output's speed.
    expect(cuts.filter(({ data }) => Number(data.bytes) < MB)).toEqual([]);
    expect(cuts.reduce((sum, { data }) => sum + Number(data.bytes), 0)).toBe(begins);
    expect(cuts.at(-1)?.data).toEqual({ run: 1, offset: begins, bytes: expect.any(Number), limit: 4 * MB, outputPath: session.outputPath });
  });

  test("a reader before the first offset is refused with the current one; a reader without an offset gets all that is there", async () => {
    await using home = new TestHome();
    await home.run(flood(home, 6), "--host", host, "--name", "flood", "--recording-limit", "2M");
    const { recordingCutBytes: begins } = await home.ended("flood");
    using client = home.client();
    const read = async (from: number | undefined) => {
      const chunks: Uint8Array[] = [];
      for await (const chunk of await client.bytes({ params: { ref: "flood" }, query: { from } })) chunks.push(chunk);
      return Buffer.concat(chunks);
    };
    await expect(read(0)).rejects.toMatchObject({ code: "recording_cut", hint: `continue reading at ${begins}` });
    await expect(read(begins - 1)).rejects.toMatchObject({ code: "recording_cut" });
    expect((await read(begins)).toString("latin1", 0, LINE)).toBe(lineAt(begins));
    expect((await read(undefined)).length).toBe(6 * MB - begins);
    expect(await client.call("getRecording", { params: { ref: "flood" } })).toMatchObject({ begins, bytes: 6 * MB, limitBytes: 2 * MB });
  });

  test("growth without a daemon is cut by the next one, which also reports a cut that a killed daemon made", async () => {
    await using home = new TestHome();
    const go = path.join(home.root, "go");
    const session = await home.run(
      `while ! [ -e ${go} ]; do sleep 0.02; done; ${flood(home, 12)}; exec sleep 1000`,
      "--host",
      host,
      "--name",
      "flood",
      "--recording-limit",
      "4M",
    );
    await home.killDaemon();
    writeFileSync(go, "");
    await eventually(() => kept(home, session).bytes === 12 * MB);
    expect(await events(home, "flood", "recording.cut")).toMatchObject([{ data: { offset: 9 * MB, bytes: 9 * MB } }]);
    expect(kept(home, session)).toEqual({ bytes: 3 * MB, first: "output.000009" });
    expect((await home.session("flood")).recordingCutBytes).toBe(9 * MB);
    await home.killDaemon();
    expect((await home.session("flood")).recordingCutBytes).toBe(9 * MB);
    expect(await events(home, "flood", "recording.cut")).toHaveLength(1);
    // The screen survives a cut, even when it is rebuilt from the recording.
    await eventually(async () => (await home.ok(["screen", "flood"])).includes(lineAt(12 * MB - LINE).trim()));
  });
});

/** The output of a process as it arrives. */
function outputOf(child: ChildProcessWithoutNullStreams): { text: string; ended: Promise<number | null> } {
  const output = { text: "", ended: new Promise<number | null>((resolve) => child.on("close", resolve)) };
  child.stdout.setEncoding("latin1").on("data", (chunk: string) => {
    output.text += chunk;
  });
  return output;
}

test("a follower overtaken by the limit gets a note, and continues with the remaining output", async () => {
  await using home = new TestHome();
  const go = path.join(home.root, "go");
  await home.run(`echo first; while ! [ -e ${go} ]; do sleep 0.02; done; ${flood(home, 24)}`, "--name", "flood", "--recording-limit", "4M");
  const child = home.start(["logs", "-f", "flood"]);
  const follower = outputOf(child);
  await eventually(() => follower.text.includes("first\n"));
  process.kill(child.pid ?? 0, "SIGSTOP");
  writeFileSync(go, "");
  await home.ended("flood");
  process.kill(child.pid ?? 0, "SIGCONT");
  expect(await follower.ended).toBe(0);
  const [first, ...rest] = Buffer.from(follower.text, "latin1").toString("utf8").trimEnd().split("\n");
  expect(first).toBe("first");
  // Once, or several times while the follower catches up.
  const isNote = (line: string) => line.includes("output were deleted (limit 4 MB)");
  const [note, lastNote] = [rest.findIndex(isNote), rest.findLastIndex(isNote)];
  expect(note).toBeGreaterThanOrEqual(0);
  expect(rest.at(-1)).toBe(lineAt(24 * MB - LINE).trim());
  // In order and without duplicates; the last line before the cut may be torn.
  for (const part of [rest.slice(0, Math.max(0, note - 1)), rest.slice(lastNote + 1)]) {
    const numbers = part.map((line) => Number.parseInt(line, 10));
    expect(numbers).toEqual(numbers.map((_, index) => (numbers[0] ?? 0) + index));
  }
});

test("replay and export start where the recording starts, say so, and miss nothing after that", async () => {
  await using home = new TestHome();
  await home.run(flood(home, 8), "--name", "flood", "--recording-limit", "4M");
  const { recordingCutBytes: begins } = await home.ended("flood");
  const note = `… ${begins / MB} MB of earlier output were deleted (limit 4 MB)`;
  const steps = (await home.ok(["replay", "flood", "--json"])).trim().split("\n");
  const outputs = steps
    .map((line) => JSON.parse(line) as { kind: string; at: number; base64?: string })
    .filter(({ kind }) => kind === "output");
  const bytes = Buffer.concat(outputs.map(({ base64 = "" }) => Buffer.from(base64, "base64")));
  expect(bytes.equals(raw(home, "flood"))).toBe(true);
  expect(Math.max(...outputs.map(({ at }) => at))).toBeLessThan(60_000);
  const text = await home.ok(["export", "flood", "--text", "-"]);
  expect(text.slice(0, text.indexOf("\n"))).toBe(note);
  expect(text).toBe(await home.ok(["logs", "flood"]));
  const told = await home.ok(["export", "flood", "--html", path.join(home.root, "flood.html")]);
  expect(told).toContain(`its first ${begins / MB} MB had been deleted`);
});

test("the limit is configurable, 64 MB by default, and can be off for one session", async () => {
  await using home = new TestHome();
  await home.run("exec sleep 1000", "--name", "usual");
  expect(await home.session("usual")).toMatchObject({ recordingLimitBytes: 64 * MB, recordingCutBytes: 0 });
  await home.ok(["down"]);
  const configuration = path.join(home.env.HOME ?? "", ".config/holdfast");
  execFileSync("mkdir", ["-p", configuration]);
  writeFileSync(path.join(configuration, "config.toml"), 'recording_limit = "2M"\n');
  // Written once: a second write would truncate the file while the first run reads it.
  const script = `${flood(home, 6)}; exec sleep 1000`;
  await home.run(script, "--name", "as-configured");
  await home.run(script, "--name", "all", "--recording-limit", "off");
  expect(await home.session("usual")).toMatchObject({ recordingLimitBytes: 2 * MB });
  expect(await home.until("as-configured", ({ recordingCutBytes }) => recordingCutBytes >= 4 * MB)).toMatchObject({
    recordingLimitBytes: 2 * MB,
  });
  const all = await home.session("all");
  await eventually(() => kept(home, all).bytes === 6 * MB);
  expect(await home.session("all")).toMatchObject({ recordingLimitBytes: null, recordingCutBytes: 0 });
  const refused = await home.cli(["run", "--recording-limit", "1M", "--", "true"]);
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("at least 2 MB") });
});
