/**
 * A home on a disk of its own: a small tmpfs under the test's directory that can be filled, emptied and made read-only, and is always
 * unmounted. That takes root, or a user namespace; where neither is to be had, the test says so and fails: it cannot prove anything there.
 */
import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, rmSync, statfsSync } from "node:fs";
import path from "node:path";
import { eventually, TestHome } from "./home.ts";

export class SmallDiskHome extends TestHome {
  #covered = false;

  constructor(options: { megabytes: number }) {
    super();
    mkdirSync(this.path);
    try {
      mount("-t", "tmpfs", "-o", `size=${options.megabytes}m,mode=0700`, "tmpfs", this.path);
    } catch (cause) {
      rmSync(this.root, { recursive: true, force: true });
      throw new Error("this test needs a small disk, and tmpfs cannot be mounted here: run the tests as root", { cause });
    }
  }

  /** To the last byte, and what Holdfast kept in reserve, too. */
  fill(): void {
    rmSync(path.join(this.path, "reserve"), { force: true });
    for (const size of [1 << 20, 1 << 12, 1]) {
      try {
        for (;;) appendFileSync(this.#ballast, Buffer.alloc(size));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
      }
    }
  }

  isFull(): boolean {
    return statfsSync(this.path).bavail === 0;
  }

  empty(): void {
    rmSync(this.#ballast, { force: true });
  }

  /** Nothing may be open for writing; what has just ended may still be closing its files. */
  async remount(how: "ro" | "rw"): Promise<void> {
    await eventually(() => {
      try {
        mount("-o", `remount,${how}`, this.path);
        return true;
      } catch (error) {
        if (/busy/.test(String((error as { stderr?: unknown }).stderr))) return false;
        throw error;
      }
    });
  }

  /**
   * What is opened by its name from now on is on a read-only file system; what is open stays as it is. As near as a test comes to a disk
   * that the kernel made read-only after an error.
   */
  cover(): void {
    mount("--bind", this.path, this.path);
    this.#covered = true;
    mount("-o", "remount,bind,ro", this.path);
  }

  uncover(): void {
    if (this.#covered) execFileSync("umount", ["--lazy", this.path], { stdio: "pipe" });
    this.#covered = false;
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    this.uncover();
    await this.remount("rw");
    this.empty();
    await super[Symbol.asyncDispose]();
  }

  /** Lazily: what was killed a moment ago may still be closing its files. */
  protected override unmount(): void {
    execFileSync("umount", ["--lazy", this.path], { stdio: "pipe" });
  }

  get #ballast(): string {
    return path.join(this.path, "ballast");
  }
}

function mount(...args: string[]): void {
  execFileSync("mount", args, { stdio: "pipe" });
}
