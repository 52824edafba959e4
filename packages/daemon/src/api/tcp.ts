/**
 * An optional entry point on a TCP address, always with a token. Recorded in `listen.json`, so that the next daemon opens it
 * again. An address in use at the start is retried, because its user may be the previous daemon on its way out.
 */
import { readFileSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { HoldfastError, type Listening, type Principal } from "@holdfast/contract";
import { describe, type Home, isMissing, log, writeFileAtomic } from "@holdfast/platform";
import type { Journal } from "../journal/journal.ts";
import { type Address, checkNames, formatAddress, isLoopback, parseAddress } from "./address.ts";
import type { Door } from "./gate.ts";
import type { Served } from "./serve.ts";

const RETRY_MS = 2000;

/** An idle connection is closed after this time. */
const IDLE_MS = 60_000;

interface Wanted {
  address: Address;
  insecurePublic: boolean;
}

export class TcpDoor implements AsyncDisposable {
  readonly #file: string;
  readonly #journal: Journal;
  readonly #serve: (door: Door) => Served;
  #wanted: Wanted | undefined;
  #served: Served | undefined;
  #error: string | null = null;
  #retry: NodeJS.Timeout | undefined;

  constructor(options: { home: Home; journal: Journal; serve(door: Door): Served }) {
    this.#file = join(options.home.path, "listen.json");
    this.#journal = options.journal;
    this.#serve = options.serve;
  }

  get listening(): Listening | null {
    if (!this.#wanted) return null;
    const address = formatAddress(this.#wanted.address);
    return { address, url: `http://${address}`, public: !isLoopback(this.#wanted.address), error: this.#error };
  }

  /** Opens the address that the last daemon had open. A failure is shown in `status` and does not prevent a start. */
  async begin(): Promise<void> {
    this.#wanted = this.#remembered();
    await this.#tryToOpen();
  }

  /** Sets the address, or null for none. The previous server closes once its requests are answered, since this may be one of them. */
  async set(request: { address: string | null; insecurePublic: boolean }, actor: Principal): Promise<Listening | null> {
    const address = request.address === null ? null : parseAddress(request.address);
    if (address === null) {
      if (!this.#wanted) return null;
      rmSync(this.#file, { force: true });
      this.#journal.append({ type: "daemon.listening", actor, session: null, data: { address: null, public: false } });
      this.#replace(undefined, undefined);
      return null;
    }
    if (!isLoopback(address) && !request.insecurePublic) throw tooPublic(address);
    const now = this.#wanted;
    if (this.#served && now && now.address.host === address.host && [0, now.address.port].includes(address.port)) return this.listening;
    const { served, port } = await this.#open(address);
    const wanted = { address: { host: address.host, port }, insecurePublic: request.insecurePublic };
    try {
      writeFileAtomic(
        this.#file,
        `${JSON.stringify({ v: 1, address: formatAddress(wanted.address), insecurePublic: wanted.insecurePublic })}\n`,
      );
      const data = { address: formatAddress(wanted.address), public: !isLoopback(address) };
      this.#journal.append({ type: "daemon.listening", actor, session: null, data });
    } catch (error) {
      void served.end();
      throw error;
    }
    this.#replace(wanted, served);
    return this.listening;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#retry);
    await this.#served?.end();
  }

  #replace(wanted: Wanted | undefined, served: Served | undefined): void {
    clearTimeout(this.#retry);
    void this.#served?.end();
    this.#wanted = wanted;
    this.#served = served;
    this.#error = null;
  }

  async #tryToOpen(): Promise<void> {
    const wanted = this.#wanted;
    if (!wanted) return;
    try {
      const { served } = await this.#open(wanted.address);
      // Another address may have been set meanwhile.
      if (this.#wanted === wanted) this.#replace(wanted, served);
      else void served.end();
    } catch (error) {
      if (this.#error === null) log(`not reachable over TCP: ${describe(error)}`);
      this.#error = (error as Error).message;
      this.#retry = setTimeout(() => void this.#tryToOpen(), RETRY_MS).unref();
    }
  }

  async #open(address: Address): Promise<{ served: Served; port: number }> {
    const bound = { ...address };
    const served = this.#serve({ open: false, check: (headers) => checkNames(bound, headers) });
    served.server.keepAliveTimeout = IDLE_MS;
    await new Promise<void>((resolve, reject) => {
      served.server.once("error", (cause) => reject(unusable(address, cause))).listen({ ...address, exclusive: true }, () => resolve());
    });
    // Later errors concern a single connection that could not be accepted, for example for lack of file descriptors.
    served.server.on("error", (error) => log(`over TCP: ${error.message}`));
    bound.port = (served.server.address() as AddressInfo).port;
    return { served, port: bound.port };
  }

  #remembered(): Wanted | undefined {
    try {
      const file = JSON.parse(readFileSync(this.#file, "utf8")) as { v?: unknown; address?: unknown; insecurePublic?: unknown };
      const wanted = { address: parseAddress(String(file.address)), insecurePublic: file.insecurePublic === true };
      if (!isLoopback(wanted.address) && !wanted.insecurePublic) throw tooPublic(wanted.address);
      return wanted;
    } catch (error) {
      if (!isMissing(error)) log(`${this.#file} is ignored: ${(error as Error).message}`);
      return undefined;
    }
  }
}

function tooPublic(address: Address): HoldfastError {
  return new HoldfastError("address_public", `other machines can reach ${formatAddress(address)}, and the connection is not encrypted`, {
    hint: "listen on 127.0.0.1 and connect through ssh -L; or, if everybody on that network may read along, pass --insecure-public",
  });
}

function unusable(address: Address, cause: NodeJS.ErrnoException): HoldfastError {
  const why =
    {
      EADDRINUSE: "the port is in use",
      EACCES: "ordinary users may not use that port",
      EADDRNOTAVAIL: "this machine does not have that address",
    }[cause.code ?? ""] ?? cause.message;
  return new HoldfastError("address_unusable", `cannot listen on ${formatAddress(address)}: ${why}`, {
    hint: "choose another address; port 0 picks a free port",
    cause,
  });
}
