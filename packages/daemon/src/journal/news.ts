/**
 * Events of a session that a person who comes back is told of. They have an index of their own, so that a digest reads them and not the
 * thousands of changes of status in between. It is used only by a query with these very words, and so is a part of the schema: another
 * list is another constant, and another index.
 */
export const NEWS_1 =
  "'session.created', 'session.run_created', 'session.adopted', 'session.ended', 'session.restart_abandoned', 'session.limit_exceeded', 'session.replied', 'session.turn_failed', 'session.handed_over', 'message.queued', 'message.turn_started', 'message.replied', 'message.failed', 'message.cancelled', 'approval.requested', 'approval.answered', 'approval.resolved', 'checkpoint.created', 'recording.gap'";

export const NEWS_2 = `${NEWS_1}, 'budget.warned', 'budget.exceeded'`;

export const IS_NEWS = `type IN (${NEWS_2})`;
