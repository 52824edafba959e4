import { execFileSync } from "node:child_process";
import { mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { ControlClient } from "./control.ts";

// These tests use real servers and programs, on machines that may be busy.
vi.setConfig({ testTimeout: 20_000 });

/** A private tmux server with control clients. */
class PrivateServer implements AsyncDisposable {
  readonly #directory = mkdtempDisposableSync(join(tmpdir(), "hft-"));
  readonly #clients: ControlClient[] = [];
  readonly #env = { PATH: process.env.PATH ?? "", LANG: "C.UTF-8" };
  readonly path = this.#directory.path;

  constructor() {
    writeFileSync(join(this.path, "conf"), "set -g remain-on-exit on\nset -s exit-empty off\n");
    this.tmux("-f", join(this.path, "conf"), "new-session", "-d", "-s", "anchor", "-x", "80", "-y", "24", "cat");
  }

  tmux(...args: string[]): string {
    return execFileSync("tmux", ["-u", "-S", this.#socket, ...args], { env: this.#env, encoding: "utf8" });
  }

  get pid(): number {
    return Number(this.tmux("display-message", "-p", "#{pid}"));
  }

  client(onEnd: () => void = () => {}, answerMs = 15_000): ControlClient {
    const command = ["tmux", "-u", "-S", this.#socket, "-C", "attach-session", "-f", "no-output,ignore-size", "-t", "=anchor"];
    const client = new ControlClient({ command, env: this.#env, onEnd, answerMs });
    this.#clients.push(client);
    return client;
  }

  get #socket(): string {
    return join(this.path, "sock");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#clients) await client[Symbol.asyncDispose]();
    this.tmux("kill-server");
    this.#directory.remove();
  }
}

function say(text: string): string {
  return `display-message -p '${text}'`;
}

test("each of a thousand concurrent commands gets its own reply", async () => {
  await using server = new PrivateServer();
  const client = server.client();
  const numbers = Array.from({ length: 1000 }, (_, i) => String(i));
  const replies = await Promise.all(numbers.map((number) => client.run(say(number))));
  expect(replies).toEqual(numbers.map((number) => [[number]]));
});

test("each command of a sequence gets its own reply", async () => {
  await using server = new PrivateServer();
  const client = server.client();
  expect(await client.run(say("one"), "set-option -g @x 1", say("two"))).toEqual([["one"], [], ["two"]]);
});

test("an error drops the rest of its sequence and does not shift later replies", async () => {
  await using server = new PrivateServer();
  const client = server.client();
  const outcomes = await Promise.allSettled([
    client.run(say("before")),
    client.run(say("a"), "kill-session -t nowhere", "set-option -g @ran yes", say("b")),
    client.run("nonsense -x"),
    client.run(say("c"), "nonsense", say("d")),
    client.run(say("after"), "show-option -gqv @ran"),
  ]);
  expect(outcomes.map((outcome) => (outcome.status === "fulfilled" ? outcome.value : (outcome.reason as Error).message))).toEqual([
    [["before"]],
    "tmux refused: can't find session: nowhere",
    "tmux refused: parse error: unknown command: nonsense",
    "tmux refused: parse error: unknown command: nonsense",
    [["after"], []],
  ]);
});

test("blocks caused by hooks and other clients are skipped", async () => {
  await using server = new PrivateServer();
  const client = server.client();
  await client.run(
    `set-hook -g after-rename-window "display-message -p hooked"`,
    `set-hook -g window-renamed "display-message -p 'hooked too'"`,
  );
  const asked: Promise<string[][]>[] = [];
  for (let i = 0; i < 50; i++) asked.push(client.run(`rename-window w${i}`, say(`reply ${i}`)));
  for (let i = 0; i < 5; i++) server.tmux("rename-window", "-t", "anchor", `other${i}`);
  expect(await Promise.all(asked)).toEqual(asked.map((_, i) => [[], [`reply ${i}`]]));
});

test("a command's output cannot end its block, whatever it looks like", async () => {
  await using server = new PrivateServer();
  const client = server.client();
  const hostile = ["%end 1 1 1", "%error 1 1 1", "%begin 1 1 1", "%exit", "%end 1794720600 259 1", "", "%output %0 x"];
  writeFileSync(join(server.path, "hostile"), hostile.join("\n"));
  await client.run(`load-buffer -b hostile '${join(server.path, "hostile")}'`);
  const [shown, after] = await Promise.all([client.run("show-buffer -b hostile"), client.run(say("after"))]);
  expect(shown).toEqual([hostile]);
  expect(after).toEqual([["after"]]);
  expect(await client.run(say("%%end 1 1 1"), say("still in step"))).toEqual([["%end 1 1 1"], ["still in step"]]);
});

test("a reply of a megabyte of Unicode text, received in pieces, is complete", async () => {
  await using server = new PrivateServer();
  const client = server.client();
  const lines = Array.from({ length: 20_000 }, (_, i) => `${i} 漢字かな交じり文 🦭 naïve`);
  writeFileSync(join(server.path, "large"), lines.join("\n"));
  const [, shown] = await client.run(`load-buffer -b large '${join(server.path, "large")}'`, "show-buffer -b large");
  expect(shown).toEqual(lines);
});

test("a command of 100 KB is accepted", async () => {
  await using server = new PrivateServer();
  const client = server.client();
  await client.run(`set-option -g @long '${"x".repeat(100_000)}'`);
  expect((await client.run("show-option -gqv @long"))[0]?.[0]).toHaveLength(100_000);
});

test("a killed client rejects pending commands, reports its end once, and rejects later commands", async () => {
  await using server = new PrivateServer();
  const onEnd = vi.fn();
  const client = server.client(onEnd);
  await client.run(say("here"));
  const waiting = [client.run("wait-for never", say("behind it")), client.run(say("and behind that"))];
  process.kill(client.pid, "SIGKILL");
  for (const outcome of await Promise.allSettled(waiting))
    expect(outcome).toMatchObject({ status: "rejected", reason: { code: "host_failed" } });
  expect(onEnd).toHaveBeenCalledOnce();
  await expect(client.run(say("x"))).rejects.toMatchObject({ code: "host_failed" });
  expect(onEnd).toHaveBeenCalledOnce();
});

test("a client that cannot be started rejects its commands", async () => {
  const onEnd = vi.fn();
  const client = new ControlClient({ command: ["/nowhere/tmux"], env: {}, onEnd });
  await expect(client.run(say("x"))).rejects.toMatchObject({ code: "host_failed" });
  await client[Symbol.asyncDispose]();
  expect(onEnd).toHaveBeenCalledOnce();
});

test("the end of a client does not end the server", async () => {
  await using server = new PrivateServer();
  const first = server.client();
  await first.run(say("here"));
  await first[Symbol.asyncDispose]();
  expect(await server.client().run(say("still here"))).toEqual([["still here"]]);
});

test("a silent server loses its client, and no command waits forever (mend 24)", async () => {
  await using server = new PrivateServer();
  const { pid } = server;
  const onEnd = vi.fn();
  const client = server.client(onEnd, 500);
  expect(await client.run(say("before"))).toEqual([["before"]]);
  process.kill(pid, "SIGSTOP");
  try {
    const waits = [client.run(say("one")), client.run(say("two"))];
    for (const each of waits)
      await expect(each).rejects.toMatchObject({ code: "host_failed", message: expect.stringContaining("has not answered for 0.5 s") });
    expect(client.isSilent).toBe(true);
    await vi.waitFor(() => expect(onEnd).toHaveBeenCalledTimes(1));
    await expect(client.run(say("three"))).rejects.toMatchObject({ code: "host_failed" });
  } finally {
    process.kill(pid, "SIGCONT");
  }
  expect(await server.client().run(say("after"))).toEqual([["after"]]);
});

test("pasting an unreadable file is refused with the reason, and the next paste works (mend 18)", async () => {
  await using server = new PrivateServer();
  const client = server.client();
  const paste = (file: string) => client.run(`load-buffer -b x '${file}'`, "paste-buffer -d -b x -t anchor");
  await expect(paste(join(server.path, "nowhere"))).rejects.toMatchObject({
    message: expect.stringMatching(/tmux refused: .*nowhere: No such file/),
  });
  await expect(client.run("paste-buffer -b y")).rejects.toMatchObject({ message: "tmux refused: no buffer y" });
  await paste(join(server.path, "conf"));
});
