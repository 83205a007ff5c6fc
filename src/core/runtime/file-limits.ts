import type { FileLimiter } from '../../context.js'
import { Problem } from '../../model/problem.js'

/** How many files may be in progress at the same time. */
export interface FileLimits {
  ofOneOrganization: number
  ofAll: number
}

/** Files in progress are on disk, so their number bounds the disk use. Each has up to 100 MB. */
export const SENT_FILES: FileLimits = { ofOneOrganization: 32, ofAll: 128 }
/** Each has up to 512 MB and keeps a database connection busy. */
export const IMPORTED_FILES: FileLimits = { ofOneOrganization: 4, ofAll: 8 }
/** A slow client keeps its place for long, so there are many. */
export const EXPORTED_FILES: FileLimits = { ofOneOrganization: 4, ofAll: 64 }
const RETRY_SECONDS = 5

/** Creates the limiter of this process. */
export function createFileLimiter({ ofOneOrganization, ofAll }: FileLimits): FileLimiter {
  const inProgress = new Map<string, number>()
  let total = 0

  function check(organizationId: string): void {
    const own = inProgress.get(organizationId) ?? 0
    if (own >= ofOneOrganization) throw tooMany(`${own} files of the organization are`)
    if (total >= ofAll) throw tooMany('The maximum number of files is')
  }

  return {
    check,
    pass: async (organizationId, work) => {
      check(organizationId)
      inProgress.set(organizationId, (inProgress.get(organizationId) ?? 0) + 1)
      total++
      try {
        return await work()
      } finally {
        total--
        const left = (inProgress.get(organizationId) ?? 1) - 1
        if (left > 0) inProgress.set(organizationId, left)
        else inProgress.delete(organizationId)
      }
    },
  }
}

function tooMany(which: string): Problem {
  return new Problem('too_many_requests', `${which} in progress already: try again in ${RETRY_SECONDS} s`, {
    retry_after: RETRY_SECONDS,
  })
}
