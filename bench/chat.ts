import { talk } from "./conversation.ts";
import { type Benchmark, compared } from "./harness.ts";
import { BenchHome } from "./rig/home.ts";
import { python } from "./rig/python.ts";

const PROMPT = "› ";

type Times = { node: { end: number[] }; chat: Record<"prompt" | "keys" | "conversation", number[]> };

export const chatStart: Benchmark = {
  name: "chat-start",
  measures:
    "Time from starting `holdfast chat NAME` for an existing conversation on a terminal until its prompt is drawn and echoes a key; and until the conversation is shown above it.",
  baseline: "`node -e 0` of the same Node on such a terminal, until it exits",
  budget: "≤ 2.5×",
  async run(scale) {
    await using home = new BenchHome();
    await home.ok(["up"]);
    using client = home.client();
    const { name } = await talk(home, client);
    const commands = {
      node: { argv: [process.execPath, "-e", "0"], env: home.env },
      chat: { argv: [home.program, "chat", name], env: home.env, shows: { prompt: PROMPT, conversation: `${name}: demo in ` } },
    };
    const { node, chat } = await python<Times>("pty_start.py", { commands, runs: scale.rounds(40) });
    const baseline = { name: "node -e 0", values: node.end };
    const limit = { of: "ratio", atMost: 2.5 } as const;
    return [
      compared({ what: "prompt that takes keys", unit: "ms", limit }, chat.keys, baseline),
      compared({ what: "prompt drawn", unit: "ms" }, chat.prompt, baseline),
      compared({ what: "conversation shown", unit: "ms" }, chat.conversation, baseline),
    ];
  },
};
