/**
 * Method and path of every endpoint. Apart from endpoints.ts, which adds the schemas, so that a client can call an
 * endpoint without loading a schema library (it would double the CPU time of `holdfast ls`).
 */
export const ROUTES = {
  status: { method: "GET", path: "/status" },
  shutdown: { method: "POST", path: "/shutdown" },
  listSessions: { method: "GET", path: "/sessions" },
  spawn: { method: "POST", path: "/sessions" },
  getSession: { method: "GET", path: "/sessions/:ref" },
  renameSession: { method: "PATCH", path: "/sessions/:ref" },
  removeSession: { method: "DELETE", path: "/sessions/:ref" },
  stopSession: { method: "POST", path: "/sessions/:ref/stop" },
  attachSession: { method: "POST", path: "/sessions/:ref/attach" },
  detachSession: { method: "POST", path: "/sessions/:ref/detach" },
  sendText: { method: "POST", path: "/sessions/:ref/send" },
  pressKeys: { method: "POST", path: "/sessions/:ref/keys" },
  getScreen: { method: "GET", path: "/sessions/:ref/screen" },
  explainSession: { method: "GET", path: "/sessions/:ref/explanation" },
  readOutput: { method: "GET", path: "/sessions/:ref/output" },
  getRecording: { method: "GET", path: "/sessions/:ref/recording" },
  listTimes: { method: "GET", path: "/sessions/:ref/recording/times" },
  viewSession: { method: "POST", path: "/sessions/:ref/view" },
  prune: { method: "POST", path: "/prune" },
  diskUse: { method: "GET", path: "/disk-use" },
  listAgents: { method: "GET", path: "/agents" },
  listOrphans: { method: "GET", path: "/orphans" },
  adoptOrphan: { method: "POST", path: "/orphans/:id/adopt" },
  stopOrphan: { method: "POST", path: "/orphans/:id/stop" },
  examine: { method: "POST", path: "/doctor" },
  listBackups: { method: "GET", path: "/backups" },
  createBackup: { method: "POST", path: "/backups" },
  restoreBackup: { method: "POST", path: "/backups/:name/restore" },
  listEvents: { method: "GET", path: "/events" },
  followEvents: { method: "GET", path: "/events/stream" },
  socketEvents: { method: "GET", path: "/events/socket" },
  listAudit: { method: "GET", path: "/audit" },
  listTokens: { method: "GET", path: "/tokens" },
  createToken: { method: "POST", path: "/tokens" },
  revokeToken: { method: "DELETE", path: "/tokens/:ref" },
  setListening: { method: "POST", path: "/listen" },
} as const;

export type EndpointName = keyof typeof ROUTES;
