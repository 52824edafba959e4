export * from "./daemon-launch.ts";
export * from "./door.ts";
export * from "./files.ts";
export * from "./home.ts";
export * from "./log.ts";
export * from "./process.ts";
export * from "./program.ts";
