/**
 * Events of a session that a digest reports to a returning person. Their own index lets a digest skip thousands of status changes. SQLite uses the
 * index only for a query with exactly this text, so the text is part of the schema: a new list needs a new constant and a new index.
 */
export const NEWS_1 =
  "'session.created', 'session.run_created', 'session.adopted', 'session.ended', 'session.restart_abandoned', 'session.limit_exceeded', 'session.replied', 'session.turn_failed', 'session.handed_over', 'message.queued', 'message.turn_started', 'message.replied', 'message.failed', 'message.cancelled', 'approval.requested', 'approval.answered', 'approval.resolved', 'checkpoint.created', 'recording.gap'";

export const NEWS_2 = `${NEWS_1}, 'budget.warned', 'budget.exceeded'`;

export const IS_NEWS = `type IN (${NEWS_2})`;
