/**
 * The scripted model in a network of its own: a namespace with only a loopback where the tests may create one (root, or a kernel that allows users),
 * else the machine's loopback. Holdfast started with `prefix` is in this network, and so is everything it starts. Tests stay outside and reach the
 * model over a Unix socket.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import path from "node:path";
import { createInterface } from "node:readline";
import type { Asked } from "../../agents/src/model/server.ts";
import { ROOT } from "../home.ts";

export class ModelNetwork implements AsyncDisposable {
  readonly #process: ChildProcess;
  readonly #socket: string;
  readonly url: string;
  /** The words before a command that run it in the network. */
  readonly prefix: readonly string[];

  private constructor(options: { process: ChildProcess; socket: string; url: string; isAlone: boolean }) {
    this.#process = options.process;
    this.#socket = options.socket;
    this.url = options.url;
    this.prefix = options.isAlone ? ["nsenter", "-t", String(options.process.pid), "-n"] : [];
  }

  /** `plays` is a file with scripts for prompts in plain language. */
  static async open(directory: string, plays?: string): Promise<ModelNetwork> {
    const isAlone = spawnSync("unshare", ["-n", "ip", "link", "set", "lo", "up"]).status === 0;
    const socket = path.join(directory, "model.sock");
    const model = [
      process.execPath,
      path.join(ROOT, "agents/src/model.ts"),
      "--attended",
      "--socket",
      socket,
      ...(plays ? ["--plays", plays] : []),
    ];
    const [program = "", ...args] = isAlone ? ["unshare", "-n", "sh", "-c", 'ip link set lo up && exec "$@"', "sh", ...model] : model;
    const child = spawn(program, args, { env: { PATH: process.env.PATH ?? "" }, stdio: ["pipe", "pipe", "ignore"] });
    const [url] = (await once(createInterface(child.stdout), "line")) as [string];
    return new ModelNetwork({ process: child, socket, url, isAlone });
  }

  /** The model's requests so far. */
  async asked(): Promise<Asked[]> {
    return ((await this.#get("/requests")) as { requests: Asked[] }).requests;
  }

  async bodies(): Promise<Record<string, unknown>[]> {
    return (await this.#get("/bodies")) as Record<string, unknown>[];
  }

  #get(where: string): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const asking = request({ socketPath: this.#socket, path: where }, async (response) => {
        const chunks: Buffer[] = [];
        for await (const chunk of response) chunks.push(chunk as Buffer);
        resolve(JSON.parse(Buffer.concat(chunks).toString("utf8")));
      });
      asking.once("error", reject);
      asking.end();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill("SIGKILL");
    if (this.#process.exitCode === null && this.#process.signalCode === null) await once(this.#process, "exit");
  }
}
