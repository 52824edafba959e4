/** The rules of docs, help and error texts that a program can check. Each names the wording to use instead. */

export interface Rule {
  name: string;
  write: string;
  /** The part of the sentence that breaks the rule. */
  find(sentence: string): string | undefined;
}

const MOST_WORDS = 32;

const ACTOR =
  "(?:Holdfast|you|somebody|someone|nobody|(?:the|a|an|its) (?:daemon|agent|user|person|host|client|holder|keeper|server|CLI|command|program))";

export const RULES: readonly Rule[] = [
  { name: "sentence length", write: `at most ${MOST_WORDS} words: make two sentences of it, or a list`, find: tooLong },
  {
    name: "bare opening",
    write: "begin with the noun: “Without evidence the status is unknown”, not “What nothing tells is unknown”",
    find: (sentence) =>
      sentence.endsWith("?")
        ? undefined
        : match(sentence, /^(?:What|Who|Whoever|Whatever|Of (?:one|those|what|all that)|That which)\b(?!['’]s new)/),
  },
  phrase("leave", /\b(?:ask\w*|asking) (?:for )?leave\b|\bleave (?:is|was) (?:given|asked)\b/i, "“permission request” or “approval”"),
  phrase("goes on", /\b(?:go|goes|going|went|gone) on\b(?! (?:a|its|their|one|the same) (?:own )?lines?)/i, "“continue” or “keep running”"),
  phrase("anew", /\banew\b/i, "“again”"),
  phrase("by itself", /\bby (?:itself|themselves)\b|\bof (?:its|their) own accord\b/i, "“automatically”, or say what does it"),
  phrase("far and near", /\b(?:far|near) (?:end|side|machine|home|host|daemon)s?\b/i, "“remote” or “local”"),
  phrase(
    "told of",
    /\b(?:is|are|was|were|be|been) told of\b|\btells? (?:of|nothing)\b|\bnothing tells\b/i,
    "“report”, “notify” or “know about”",
  ),
  phrase(
    "pronoun for a noun",
    /\bwhat (?:it|they|he|she|one) waits? for\b|\bwho(?:ever)? (?:has|have) waited\b|\bwhat became of\b/i,
    "the noun: “the request”, “the session that has waited longest”, “the result”",
  ),
  phrase("let go", /\b(?:let|lets|letting) go\b/i, "“release”"),
  phrase("nobody sets", /\bclock that nobody sets\b/i, "“monotonic clock”"),
  phrase("nobody to ask", /\bnobody to ask\b/i, "“confirmation needed; pass --yes”"),
  phrase("room", /\b(?:room|place) on (?:the )?disk\b|\bhow much room\b/i, "“disk usage” or “disk space”"),
  phrase("passes nothing on", /\bpass(?:es)? nothing on\b/i, "“takes no arguments after --”"),
  phrase(
    "old word",
    /\b(?:thereby|therein|thereof|thereupon|whereby|whilst|upon|hitherto|thence|whence|hence|shall|ought to|to be had)\b/i,
    "an everyday word, or a second sentence",
  ),
  phrase(
    "inverted",
    /\b(?:ends|comes|goes|stands|follows|counts) what\b|\bso (?:it|that|this) is also where\b|^(?:Nor|So|Neither) (?:is|are|does|do|has|have|can|may)\b/,
    "subject, verb, object: “stopping a session resolves its approvals”",
  ),
  phrase(
    "passive",
    new RegExp(
      `\\b(?:is|are|was|were|be|been|being) (?:\\w+ed|known|written|given|taken|made|held|kept|read|run|sent|shown|told|begun|left|put|seen|set) by ${ACTOR}\\b`,
    ),
    "active voice: who does it comes first",
  ),
];

function phrase(name: string, pattern: RegExp, write: string): Rule {
  return { name, write, find: (sentence) => match(sentence, pattern) };
}

function match(sentence: string, pattern: RegExp): string | undefined {
  return pattern.exec(sentence)?.[0];
}

function tooLong(sentence: string): string | undefined {
  const words = sentence.split(/\s+/).filter((word) => /\p{L}|\d/u.test(word)).length;
  return words > MOST_WORDS ? `${words} words` : undefined;
}
