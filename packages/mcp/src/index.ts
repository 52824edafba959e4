export { answerMcp } from "./http.ts";
export { createServer } from "./server.ts";
export { serveStdio } from "./stdio.ts";
export { TOOLS } from "./tools.ts";
