/** Google's generateContent: gemini. */
import { type Call, callId, list, type Message, type Part, type Question, record, type Schema, spentOn, string } from "./conversation.ts";
import { callsOf, type Dialect, sse, textOf, wordsFor } from "./dialect.ts";
import type { Failure } from "./reply.ts";

const STATUS: Record<number, string> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  503: "UNAVAILABLE",
};

export const gemini: Dialect = {
  name: "gemini",
  asks: (path) => /:(stream)?generateContent$/i.test(path),
  read(body, path) {
    const config = record(body.generationConfig);
    const schema = config.responseJsonSchema ?? config.responseSchema;
    return {
      model: /models\/([^:]+):/.exec(path)?.[1] ?? "",
      system: textIn(record(body.systemInstruction).parts),
      messages: list(body.contents).flatMap(readContent),
      tools: list(body.tools)
        .flatMap((tool) => list(tool.functionDeclarations))
        .map((tool) => ({ name: string(tool.name), schema: record(tool.parametersJsonSchema ?? tool.parameters) as Schema })),
      stream: path.includes(":streamGenerateContent"),
      ...(schema === undefined ? {} : { schema: record(schema) as Schema }),
    };
  },
  stream(question) {
    return {
      start: () => "",
      part: (part) => sse(response(question, [part])),
      end: (parts) => sse({ ...response(question, [], finish(question)), usageMetadata: usage(question, parts) }),
    };
  },
  whole: (question, parts) => ({ ...response(question, parts, finish(question)), usageMetadata: usage(question, parts) }),
  failure,
  broken: (failed) => sse(failure(failed)),
};

function failure({ status, overflow, retryAfter, resetsIn }: Failure) {
  const message = overflow ? "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)." : wordsFor(status);
  const details: object[] = [];
  const detail = (type: string, more: object) => details.push({ "@type": `type.googleapis.com/google.rpc.${type}`, ...more });
  if (retryAfter !== undefined) detail("RetryInfo", { retryDelay: `${retryAfter}s` });
  if (resetsIn !== undefined) detail("QuotaFailure", { violations: [{ quotaId: "GenerateRequestsPerDayPerProjectPerModel" }] });
  return { error: { code: status, message, status: STATUS[status] ?? "INTERNAL", details } };
}

function finish({ tooLong }: Question): string {
  return tooLong ? "MAX_TOKENS" : "STOP";
}

function readContent({ role, parts }: Record<string, unknown>): Message[] {
  if (role === "model") {
    const calls = list(parts).flatMap(({ functionCall }): Call[] => {
      if (functionCall === undefined) return [];
      const { id, name, args } = record(functionCall);
      return [{ id: string(id), name: string(name), arguments: record(args) }];
    });
    return [{ from: "model", text: textIn(parts), calls }];
  }
  const results = list(parts).flatMap(({ functionResponse }): Message[] => {
    if (functionResponse === undefined) return [];
    const { id, name, response: result } = record(functionResponse);
    return [{ from: "tool", call: string(id), name: string(name), text: outcome(record(result)) }];
  });
  const said = list(parts)
    .map(({ text }) => string(text))
    .findLast((text) => text.trim() !== "");
  return said === undefined ? results : [...results, { from: "user", text: said.startsWith("<session_context>") ? "" : said }];
}

function outcome(result: Record<string, unknown>): string {
  return string(result.output) || string(result.error) || JSON.stringify(result);
}

function textIn(parts: unknown): string {
  return list(parts)
    .map(({ text }) => string(text))
    .join("");
}

function response({ model }: Question, parts: readonly Part[], finishReason?: string) {
  const said = textOf(parts);
  const content = [
    ...(said === "" && parts.length > 0 ? [] : [{ text: said }]),
    // Arguments are not text in this API, so garbled ones have the wrong type.
    ...callsOf(parts).map(({ id, name, arguments: args, garbled }) => ({
      functionCall: { id: id || callId(), name, args: garbled ?? args },
    })),
  ];
  return {
    candidates: [{ index: 0, content: { role: "model", parts: content }, ...(finishReason === undefined ? {} : { finishReason }) }],
    modelVersion: model,
  };
}

function usage(question: Question, parts: readonly Part[]) {
  const { input, output, cacheRead } = spentOn(question, textOf(parts));
  const cached = cacheRead > 0 ? { cachedContentTokenCount: cacheRead } : {};
  return { promptTokenCount: input, candidatesTokenCount: output, totalTokenCount: input + output, ...cached };
}
