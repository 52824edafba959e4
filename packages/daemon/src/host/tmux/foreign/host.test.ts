import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inspect, readGaps } from "@holdfast/platform";
import { expect, test } from "vitest";
import { HostHome, says } from "../../../../test/host-home.ts";
import { runMarker } from "../../host.ts";
import { markAdopted, readPlace, writePlace } from "../../place.ts";

test("an adopted run whose daemon died before recording is recorded later, with a gap for the time before", async () => {
  await using home = new HostHome("foreign");
  const run = await home.prepare("printf ready; exec cat");
  markAdopted(home.home, runMarker(run));
  const pid = readPlace(run.directory)?.process.pid ?? 0;
  expect(await home.host.list()).toMatchObject([{ session: run.session, pid, dead: false, recording: false }]);
  expect(await home.host.reopenRecording(run, "output-2.")).toBe(true);
  expect(readGaps(run.directory)).toMatchObject([{ offset: 0, why: "it was adopted while it ran" }]);
  writeFileSync(join(run.directory, "go"), "");
  await says({ ...run, pid }, "ready");
  await home.host.remove(run);
  expect(await home.host.list()).toEqual([]);
});

test("a run from before a reboot is lost, not ended", async () => {
  await using home = new HostHome("foreign");
  const run = await home.start("exec sleep 60");
  const place = readPlace(run.directory);
  if (!place) throw new Error("no place");
  writePlace(run.directory, { ...place, process: { pid: place.process.pid, start: "00000000-1" } });
  expect(await home.host.list()).toEqual([]);
  writePlace(run.directory, place);
  expect(await home.host.list()).toMatchObject([{ dead: false }]);
});

test("a process that reuses an old recorder's pid is neither ended nor waited for", async () => {
  await using home = new HostHome("foreign");
  const run = await home.start("read -r line; exit 3");
  const recorder = Number(readFileSync(join(run.directory, "recorder"), "utf8"));
  process.kill(recorder, "SIGKILL");
  const other = spawn("sh", ["-c", "read -r line; exit 0"], { stdio: ["pipe", "ignore", "ignore"] });
  try {
    writeFileSync(join(run.directory, "recorder"), `${other.pid}\n`);
    await home.host.write(run, Buffer.from("\r"), { paste: false });
    expect(await home.exited(run)).toEqual({ status: "3", signal: "" });
    const began = performance.now();
    await home.host.remove(run);
    expect(performance.now() - began).toBeLessThan(10_000);
    expect(inspect(other.pid ?? 0)?.zombie).toBe(false);
  } finally {
    other.kill("SIGKILL");
  }
});
