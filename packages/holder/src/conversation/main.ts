/**
 * Keeps one conversation alive, independent of the daemon: owns the pipes to the agent, appends all its output to the transcript, and answers on a
 * socket. Started with the run's directory; ends after the agent has ended and `exit.json` is written.
 */
import type { Socket } from "node:net";
import { constants } from "node:os";
import { join } from "node:path";
import {
  CONVERSATION_PROTOCOL,
  type ConversationOrder,
  type FromConversation,
  ToConversation,
} from "@holdfast/contract/conversation/holder";
import { decodeMessage, encodeMessage, FrameReader, MESSAGE } from "@holdfast/contract/terminal/frames";
import { Keeper, type Order, type ProgramExit } from "../keeper.ts";
import { Recorder } from "../recorder.ts";
import { Agent } from "./agent.ts";
import { Conversation, Refusal } from "./conversation.ts";
import type { Recalled } from "./recall.ts";
import { Transcript } from "./transcript.ts";

const directory = process.argv[2] ?? "";
const sockets = new Set<Socket>();
const keeper = new Keeper<Order & { conversation: ConversationOrder }>(directory, serve);
const order = keeper.order.conversation;
const recorder = new Recorder(directory);
const transcript = new Transcript(directory);
await keeper.open();
const agent = new Agent({
  launch: join(directory, "launch"),
  cwd: order.cwd,
  listener: {
    onUpdate: (update) => conversation.hear(update),
    onPrinted: (terminal, text) => conversation.printed(terminal, text),
    onAsk: (request) => conversation.ask(request),
    onError: (bytes) => void recorder.append(bytes),
    onNonsense: (error) => keeper.complain(error),
    onExit,
  },
});
keeper.register(agent);
const conversation = new Conversation({ order, transcript, agent, recall: recallHere });

function onExit(exit: ProgramExit): void {
  conversation.end(`the agent ended with ${exit.signal === 0 ? `code ${exit.code}` : nameOf(exit.signal)}`);
  keeper.programEnded(exit, {
    finish() {
      recorder.finish();
      transcript.finish();
    },
    leave() {
      for (const socket of sockets) socket.end();
    },
  });
}

/** Loaded on demand, because few agents need it. */
async function recallHere(words: string): Promise<Recalled> {
  const { recall } = await import("./recall.ts");
  return recall(directory, words);
}

function nameOf(signal: number): string {
  return Object.entries(constants.signals).find(([, number]) => number === signal)?.[0] ?? `signal ${signal}`;
}

function serve(socket: Socket): void {
  const reader = new FrameReader();
  sockets.add(socket.on("close", () => sockets.delete(socket)).on("error", () => socket.destroy()));
  socket.on("data", (chunk: Buffer) => {
    try {
      for (const { type, payload } of reader.push(chunk)) if (type === MESSAGE) void obey(socket, decodeMessage(payload));
    } catch (error) {
      // An invalid message of one client must not end the run.
      keeper.complain(error);
      socket.destroy();
    }
  });
}

async function obey(socket: Socket, message: unknown): Promise<void> {
  const say = (answer: FromConversation) => void socket.write(encodeMessage(answer));
  const parsed = ToConversation.safeParse(message);
  if (!parsed.success) {
    const id = (message as { id?: unknown } | null)?.id;
    if (typeof id === "number") say({ t: "reply", id, code: "not_offered", error: "the conversation's keeper does not know that request" });
    return;
  }
  const told = parsed.data;
  if (told.t === "control") return say({ t: "welcome", v: CONVERSATION_PROTOCOL, pid: agent.pid });
  try {
    await act(told);
    say({ t: "reply", id: told.id, state: conversation.state });
  } catch (error) {
    say({ t: "reply", id: told.id, code: error instanceof Refusal ? error.code : "failed", error: (error as Error).message });
  }
}

async function act(told: Exclude<ToConversation, { t: "control" }>): Promise<void> {
  if (told.t === "prompt") await conversation.prompt(told);
  else if (told.t === "cancel") await conversation.cancel();
  else if (told.t === "answer") conversation.answer(told);
  else if (told.t === "set") await conversation.set(told);
  else if (told.t === "clear") await conversation.clear();
  else if (told.t === "note") conversation.note(told);
}
