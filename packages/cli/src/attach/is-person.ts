import { actingIn } from "@holdfast/sdk/acting";

/** Inside a run the session chats, unless its user acts as the owner. */
export function isPerson(): boolean {
  return !process.env.HOLDFAST_RUN || actingIn(process.env).as === "owner";
}
