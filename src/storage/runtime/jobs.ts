/** The id of a task, for a row of its jobs; one that the queue does not know fails the statement, since task_id must not be null. */
export const taskId = (name: string) => `(SELECT id FROM graphile_worker._private_tasks WHERE identifier = '${name}')`
