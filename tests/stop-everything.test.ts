import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Session } from "@holdfast/contract";
import { describe, expect, test } from "vitest";
import { eventually, TestHome } from "./home.ts";
import { lives } from "./proc.ts";

type Stopped = Session & { killed: { pid: number; name: string; signal: string }[] };

/** Programs that try to escape, each of which writes its pid into a file named after it. */
const RUNAWAYS = `
note() { echo "$1" > "$2.tmp"; mv "$2.tmp" "$2"; }
sh -c 'echo $$ > child; exec sleep 600' &
setsid sh -c 'echo $$ > setsid; exec sleep 600' < /dev/null > /dev/null 2>&1 &
(setsid sh -c '(sh -c "echo \\$\\$ > doublefork; exec sleep 600") &' < /dev/null > /dev/null 2>&1 &)
sh -c 'trap "" TERM HUP; echo $$ > stubborn; while :; do sleep 0.1; done' &
setsid perl -e '$0 = "innocent"; open(F, ">title"); print F $$; close F; $SIG{TERM} = "IGNORE"; sleep 600' < /dev/null > /dev/null 2>&1 &
sh -c 'echo $$ > forking; while :; do (sleep 0.05 &); sleep 0.01; done' &
note $$ leader
wait
`;
const NAMES = ["leader", "child", "setsid", "doublefork", "stubborn", "title", "forking"];

describe.each(["tmux", "native"])("on the %s host", (host) => {
  test("no process of a run outlives stop, however it tried to escape (CAVE-06 hosts, BG-02 hosts)", async () => {
    await using home = new TestHome();
    await home.json<Session>(["run", "--host", host, "--name", "wild", "--", "sh", "-c", RUNAWAYS]);
    const pids = await eventually(() => pidsIn(home.root));
    for (const [name, pid] of pids) expect([name, lives(pid)]).toEqual([name, true]);
    const before = performance.now();
    const [stopped] = await home.json<Stopped[]>(["stop", "wild", "--grace", "500ms"]);
    expect(performance.now() - before).toBeGreaterThan(400);
    for (const [name, pid] of pids) expect([name, lives(pid)]).toEqual([name, false]);
    expect(stopped).toMatchObject({ status: "stopped" });
    const signals = new Map(stopped?.killed.map(({ pid, signal }) => [pid, signal]));
    expect(signals.get(pids.get("child") ?? 0)).toBe("SIGTERM");
    expect(signals.get(pids.get("stubborn") ?? 0)).toBe("SIGKILL");
    expect(await home.json(["orphans", "ls"])).toEqual([]);
  });

  test("stop spares the daemon and the keepers, even if the daemon was started inside the session (CAVE-06 hosts)", async () => {
    await using home = new TestHome();
    await home.json<Session>(["run", "--host", host, "--name", "other", "--", "sleep", "600"]);
    writeFileSync(path.join(home.root, "inside.sh"), '"$1" down; "$1" up; echo up > up; exec sleep 600');
    const holdfast = path.join(import.meta.dirname, "..", "bin", "holdfast");
    await home.json<Session>(["run", "--host", host, "--name", "inside", "--", "sh", "inside.sh", holdfast]);
    await eventually(() => readFileIf(path.join(home.root, "up")) !== undefined);
    const daemon = await home.daemonPid();
    await home.ok(["stop", "inside"]);
    expect(await home.daemonPid()).toBe(daemon);
    expect(await home.session("other")).toMatchObject({ status: "working" });
  });
});

function pidsIn(directory: string): Map<string, number> | undefined {
  const pids = NAMES.map((name) => [name, Number(readFileIf(path.join(directory, name)))] as const);
  return pids.every(([, pid]) => pid > 0) ? new Map(pids) : undefined;
}

function readFileIf(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
