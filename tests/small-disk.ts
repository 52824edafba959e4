/**
 * A home on its own disk: a small tmpfs that can be filled, emptied and made read-only, and is always unmounted. Needs root or a user
 * namespace; without either the test fails with that reason, because it would prove nothing.
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

  /** Fills the disk completely, including the space that Holdfast reserves. */
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

  /** Requires that no file is open for writing; a process that just ended may still be closing its files. */
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
   * Files opened by name from now on are on a read-only file system; open files stay writable. This is as close as a test gets to a disk
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

  /** Lazy unmount: a process that was just killed may still be closing its files. */
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
