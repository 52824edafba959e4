/** Acts as a session, with the token from its run's environment. */
import { readFileSync } from "node:fs";
import { openHome } from "@holdfast/platform";
import { HoldfastClient, unixTransport } from "@holdfast/sdk";
import { eventually, type TestHome } from "./home.ts";

export async function tokenOf(home: TestHome, name: string): Promise<string> {
  return eventually(async () => {
    const { pid } = await home.session(name);
    return pid === null ? undefined : /HOLDFAST_TOKEN=(\S+?)\0/.exec(readFileSync(`/proc/${pid}/environ`, "latin1"))?.[1];
  });
}

export async function clientAs(home: TestHome, name: string): Promise<HoldfastClient> {
  return new HoldfastClient(unixTransport(openHome(home.env).daemonSocket, { token: await tokenOf(home, name) }));
}
