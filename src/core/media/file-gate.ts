import type { FileGate } from '../../context.js'
import { Problem } from '../../model/problem.js'

/** Files lie on disk on their way, up to 100 MB each: their number is what keeps the disk from filling. */
const MAX_FILES = 128
const MAX_OF_ONE = 32
const RETRY_SECONDS = 5

/** Makes the gate of a process. */
export function createFileGate(): FileGate {
  const underWay = new Map<string, number>()
  let total = 0

  return {
    pass: async (organizationId, work) => {
      const own = underWay.get(organizationId) ?? 0
      if (own >= MAX_OF_ONE || total >= MAX_FILES) throw tooManyFiles(own)
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

function tooManyFiles(own: number): Problem {
  const reason = own >= MAX_OF_ONE ? `${own} files of the organization` : 'As many files as can be'
  return new Problem('too_many_requests', `${reason} are on their way already: try again in ${RETRY_SECONDS} s`, {
    retry_after: RETRY_SECONDS,
  })
}
