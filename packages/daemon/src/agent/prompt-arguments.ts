/**
 * Prompts in the user's arguments for an agent, such as `spawn claude -- -p "deploy"`. Like a first prompt, they are passed to the program only once.
 * An unknown flag takes the next word as its value, unless that word contains a blank.
 */
export interface PromptArguments {
  /** Words that belong to no flag form a prompt. */
  positional: boolean;
  /** Flags followed by a prompt. */
  prompts?: RegExp;
  /** Flags without a value. */
  bare?: RegExp;
  /** Flags with a value that may contain blanks. */
  values?: RegExp;
  /** Flags that take all words up to the next flag. */
  lists?: RegExp;
  /** Flags that make the agent answer one prompt and end. They are removed with the prompt. */
  once?: RegExp;
  /** Subcommands that do one thing and end. They are removed with everything after them. */
  jobs?: RegExp;
  /** Subcommands followed by a conversation's id, unless the flag is given. */
  conversations?: { commands: RegExp; flag: RegExp };
}

/** The part of a profile that tells how its program takes prompts. */
interface TakesPrompts {
  prompt?: readonly string[];
  arguments?: PromptArguments;
}

interface Split {
  /** The arguments without the prompt. */
  args: string[];
  said: string[];
}

export function splitPrompt(profile: TakesPrompts | undefined, args: readonly string[]): Split {
  const how = profile?.arguments ?? derived(profile);
  const { args: kept, said } = how ? walk(how, args) : { args, said: [] };
  return said.length === 0 ? { args: [...args], said } : { args: kept.filter((word) => !how?.once?.test(word)), said };
}

/** Derived from how the profile passes a first prompt. */
function derived(profile: TakesPrompts | undefined): PromptArguments | undefined {
  const words = profile?.prompt ?? [];
  const at = words.findIndex((word) => word.includes("{prompt}"));
  if (at < 0) return undefined;
  const flag = /^(-[^=]*)=/.exec(words[at] ?? "")?.[1] ?? (words[at - 1]?.startsWith("-") ? words[at - 1] : undefined);
  return flag === undefined ? { positional: true } : { positional: false, prompts: new RegExp(`^${flag.replaceAll(/[^\w-]/g, "\\$&")}$`) };
}

function walk(how: PromptArguments, args: readonly string[]): Split {
  const kept: string[] = [];
  const said: string[] = [];
  let ids = 0;
  for (let i = 0; i < args.length; i++) {
    const word = args[i] ?? "";
    const rest = args.slice(i + 1);
    if (word === "--") {
      if (how.positional) said.push(...rest);
      else kept.push(word, ...rest);
      break;
    }
    if (isFlag(word)) {
      const [flag = word, value] = word.split(/=(.*)/s);
      const behind = value === undefined ? valuesBehind(how, flag, rest) : [];
      (how.prompts?.test(flag) ? said : kept).push(word, ...behind);
      i += behind.length;
    } else if (how.jobs?.test(word)) {
      said.push(word, ...rest);
      break;
    } else if (how.conversations?.commands.test(word)) {
      kept.push(word);
      ids = args.some((other) => how.conversations?.flag.test(other)) ? 0 : 1;
    } else if (how.positional && ids === 0) {
      said.push(word);
    } else {
      kept.push(word);
      ids = 0;
    }
  }
  return { args: kept, said };
}

function valuesBehind(how: PromptArguments, flag: string, rest: readonly string[]): string[] {
  const [next] = rest;
  if (next === undefined || how.bare?.test(flag) || how.once?.test(flag)) return [];
  if (how.prompts?.test(flag)) return [next];
  if (isFlag(next)) return [];
  if (how.lists?.test(flag)) {
    const end = rest.findIndex(isFlag);
    return rest.slice(0, end < 0 ? undefined : end);
  }
  return how.values?.test(flag) || !/\s/.test(next) ? [next] : [];
}

function isFlag(word: string): boolean {
  return word.startsWith("-") && word !== "-";
}
