import type { FileLimiter } from '../../context.js'
import { FairPlaces, type PlaceLimits } from '../../lib/async/fair-places.js'
import { Problem } from '../../model/problem.js'

/** How many files may be in progress, in all and of one organization. */
export type FileLimits = Required<Pick<PlaceLimits, 'places' | 'ofOneKey'>>

/** Files in progress are on disk, so their number bounds the disk use. Each has up to 100 MB. */
export const SENT_FILES: FileLimits = { places: 128, ofOneKey: 32 }
/** Each has up to 512 MB and keeps a database connection busy. */
export const IMPORTED_FILES: FileLimits = { places: 8, ofOneKey: 4 }
/** A slow client keeps its place for long, so there are many. */
export const EXPORTED_FILES: FileLimits = { places: 64, ofOneKey: 4 }
const RETRY_SECONDS = 5

/** Creates the limiter of this process. Without a free place, it refuses instead of waiting. */
export function createFileLimiter(limits: FileLimits): FileLimiter {
  const places = new FairPlaces(limits)

  function check(organizationId: string): void {
    const shortage = places.shortage(organizationId)
    if (shortage === 'own') throw tooMany(`${limits.ofOneKey} files of the organization are`)
    if (shortage === 'all') throw tooMany('The maximum number of files is')
  }

  return {
    check,
    pass: async (organizationId, work) => {
      check(organizationId)
      return places.run(organizationId, work)
    },
  }
}

function tooMany(which: string): Problem {
  return new Problem('too_many_requests', `${which} in progress already: try again in ${RETRY_SECONDS} s`, {
    retry_after: RETRY_SECONDS,
  })
}
