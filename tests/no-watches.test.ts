import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { eventually, HOLDFAST, TestHome } from "./home.ts";

const MB = 1 << 20;

/** The daemon and its processes run in a user namespace without inotify watches. */
async function upWithoutWatches(home: TestHome): Promise<void> {
  const script = 'echo 0 > /proc/sys/user/max_inotify_watches && exec "$0" up';
  const child = spawn("unshare", ["--user", "--map-root-user", "sh", "-c", script, HOLDFAST], { env: home.env, stdio: "ignore" });
  expect((await once(child, "exit"))[0]).toBe(0);
}

test("without inotify watches a recording keeps to its limit, a follower follows to the end, and the log says it once", async () => {
  await using home = new TestHome();
  await upWithoutWatches(home);
  const go = path.join(home.root, "go");
  const session = await home.run(
    `head -c ${8 * MB} /dev/zero | tr '\\\\0' x; echo; echo flooded; while ! [ -e ${go} ]; do sleep 0.05; done; echo the end`,
    ...["--name", "one", "--recording-limit", "2M"],
  );
  const directory = path.join(home.path, "sessions", session.id, "runs/1");
  const kept = () => readdirSync(directory).filter((name) => name.startsWith("output."));
  await eventually(() => kept().includes("output.000008"));
  await eventually(() => kept().length <= 3);
  await home.until("one", ({ recordingCutBytes }) => recordingCutBytes > 0);

  // Uses the API, which does not retry: the daemon's stream must not end before the run does.
  using client = home.client();
  const text: string[] = [];
  const reading = (async () => {
    const from = (await client.call("getRecording", { params: { ref: "one" }, query: { from: 0 } })).begins;
    for await (const chunk of await client.bytes({ params: { ref: "one" }, query: { from, follow: true } })) {
      text.push(Buffer.from(chunk).toString());
    }
  })();
  await eventually(() => text.join("").includes("flooded"));
  writeFileSync(go, "");
  await reading;
  expect(text.join("")).toContain("the end");
  await home.ended("one");
  const said = readFileSync(path.join(home.path, "daemon.log"), "utf8").split("\n");
  expect(said.filter((line) => line.includes("cannot watch") && line.includes("/runs/1")).length).toBe(1);
});
