/** SQL for the id of a task, for inserted jobs; an unknown task fails the statement, since task_id must not be null. */
export const taskId = (name: string) => `(SELECT id FROM graphile_worker._private_tasks WHERE identifier = '${name}')`
