import type { LinkedLibrary } from '../../../channels/linked-device/library.js'
import type { Context } from '../../../context.js'
import { countInstancesToRun } from '../../../storage/instances/leases.js'
import { LIBRARY_MISSING } from './linked-library.js'

/** The library, loaded when the first device is to be run. */
export interface NeededLibrary {
  /** True if it is loaded. If there are devices to run and it is missing, logs that once. */
  isReady(): Promise<boolean>
  /** True if it was needed and is missing; that does not change until a restart. */
  isMissing(): boolean
  /** Throws unless it is ready. */
  get(): LinkedLibrary
}

export function createNeededLibrary(
  ctx: Pick<Context, 'database' | 'processId' | 'linkedLibrary' | 'log'>,
  isInstalled: boolean,
): NeededLibrary {
  let library: LinkedLibrary | null = null
  let isMissing = false

  return {
    isReady: async () => {
      if (library !== null) return true
      const { instances } = await countInstancesToRun(ctx.database, ctx.processId)
      if (instances === 0) return false
      if (isInstalled) library = await ctx.linkedLibrary()
      if (library !== null) return true
      isMissing = true
      ctx.log.warn({ instances }, LIBRARY_MISSING)
      return false
    },
    isMissing: () => isMissing,
    get: () => {
      if (library === null) throw new Error('The library of linked devices has not been loaded')
      return library
    },
  }
}
