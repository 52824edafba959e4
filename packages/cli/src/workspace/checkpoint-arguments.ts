import { HoldfastError } from "@holdfast/contract/errors";
import type { Context } from "../command.ts";

export interface CheckpointArguments {
  /** A workspace, a session in it, or a path in it. Without a name, the workspace of the current directory. */
  ref: string;
  numbers: number[];
}

const NUMBER = /^#?([1-9][0-9]{0,8})$/;

/** Parses `[NAME] [NUMBER…]`. A number is taken as a workspace's name only if there are more arguments than wanted numbers. */
export function checkpointArguments({ args }: Pick<Context, "args">, verb: string, most: number): CheckpointArguments {
  const [first, ...rest] = args;
  const hasName = first !== undefined && (args.length > most || !NUMBER.test(first));
  const words = hasName ? rest : args;
  const numbers = words.map((word) => Number(NUMBER.exec(word)?.[1]));
  const wrong = words.find((_, index) => index >= most || Number.isNaN(numbers[index]));
  if (wrong !== undefined)
    throw new HoldfastError(
      "usage",
      most === 0 ? `unexpected argument ${JSON.stringify(wrong)}` : `${JSON.stringify(wrong)} is not a checkpoint number`,
      {
        hint: `see: holdfast checkpoint ${verb} --help`,
      },
    );
  return { ref: hasName ? first : process.cwd(), numbers };
}
