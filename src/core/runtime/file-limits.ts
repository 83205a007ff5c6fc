import type { FileLimiter } from '../../context.js'
import { Problem } from '../../model/problem.js'

/** How many files may be on their way at a time. */
export interface FileLimits {
  ofOneOrganization: number
  ofAll: number
}

/** Files lie on disk on their way: their number is what keeps the disk from filling. These have up to 100 MB each. */
export const SENT_FILES: FileLimits = { ofOneOrganization: 32, ofAll: 128 }
/** Up to 512 MB each, and each keeps a connection to the database busy. */
export const IMPORTED_FILES: FileLimits = { ofOneOrganization: 4, ofAll: 8 }
/** A client that is slow to take one keeps its place: there is room for many such. */
export const EXPORTED_FILES: FileLimits = { ofOneOrganization: 4, ofAll: 64 }
const RETRY_SECONDS = 5

/** Makes a gate of a process. */
export function createFileLimiter({ ofOneOrganization, ofAll }: FileLimits): FileLimiter {
  const underWay = new Map<string, number>()
  let total = 0

  return {
    pass: async (organizationId, work) => {
      const own = underWay.get(organizationId) ?? 0
      if (own >= ofOneOrganization) throw tooManyFiles(`${own} files of the organization`)
      if (total >= ofAll) throw tooManyFiles('As many files as can be')
      underWay.set(organizationId, own + 1)
      total++
      try {
        return await work()
      } finally {
        total--
        const left = (underWay.get(organizationId) ?? 1) - 1
        if (left > 0) underWay.set(organizationId, left)
        else underWay.delete(organizationId)
      }
    },
  }
}

function tooManyFiles(which: string): Problem {
  return new Problem('too_many_requests', `${which} are on their way already: try again in ${RETRY_SECONDS} s`, {
    retry_after: RETRY_SECONDS,
  })
}
