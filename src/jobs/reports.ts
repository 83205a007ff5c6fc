import type { Logger } from 'pino'
import { batchStatement } from '../database/batch-statement.js'
import type { Database } from '../database/pool.js'
import { backoffDelay, sleep } from '../lib/async/backoff.js'
import { type ClaimedJob, finishJobs, type PutBack, putJobsBack } from '../storage/jobs/queue.js'

/**
 * Reports that a job has finished, or is put back to run again, or has failed. Resolves to whether it may become due
 * again; never rejects.
 */
export type ReportJob = (ended: { job: ClaimedJob } | PutBack) => Promise<boolean>

const RETRY = { baseMs: 100, maxMs: 2_000, jitter: 0.5 }

/**
 * Creates the function that reports ended jobs of this process; reports of the same moment share a statement. A report
 * is retried until it succeeds or `givesUp` is aborted. In the second case the job runs again once this process is dead.
 */
export function createReports(database: Database, processId: number, log: Logger, givesUp: AbortSignal): ReportJob {
  const finish = batchStatement(async (jobs: ClaimedJob[]) => {
    const reported = await finishJobs(database, processId, jobs)
    return jobs.map((job) => note(job, reported))
  })
  const putBack = batchStatement(async (ended: PutBack[]) => {
    const reported = await putJobsBack(database, processId, ended)
    return ended.map(({ job }) => note(job, reported))
  })

  /** If this process seemed dead for a while, others have freed its jobs. */
  function note({ id, task, organizationId }: ClaimedJob, reported: ReadonlyMap<number, boolean>) {
    const isDueAgain = reported.get(id)
    if (isDueAgain === undefined)
      log.warn({ organizationId, task, jobId: id }, 'a job ended after another process had freed it')
    return { isDueAgain: isDueAgain === true }
  }

  return async (ended) => {
    for (let attempt = 1; !givesUp.aborted; attempt++) {
      try {
        const { isDueAgain } = await ('inMs' in ended ? putBack(ended) : finish(ended.job))
        return isDueAgain
      } catch (error) {
        log.warn({ err: error, task: ended.job.task }, 'the end of a job could not be stored; the report is retried')
        await sleep(backoffDelay(attempt, RETRY), givesUp).catch(() => undefined)
      }
    }
    return false
  }
}
