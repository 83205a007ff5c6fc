import { createRequire } from 'node:module'
import type { Logger } from 'pino'
import { type LinkedLibrary, loadLibrary } from '../../../channels/linked-device/library.js'
import type { Context } from '../../../context.js'
import { Problem } from '../../../model/problem.js'
import { doOthersRunDevices } from '../../../storage/instances/leases.js'

/** What is to be done where linked devices cannot be run. */
export const LIBRARY_MISSING =
  'Linked devices need a library that comes apart: run `npm install --no-save baileys@7.0.0-rc14` in the folder of the service, and start the service again'

/** Whether the library seems to be there; it is large, and loaded only where it is needed. */
export function isLibraryInstalled(specifier: string): boolean {
  try {
    createRequire(import.meta.url).resolve(specifier)
    return true
  } catch (error) {
    // Found, and made for `import` alone.
    return (error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND'
  }
}

/** Loads the library when it is first asked for; null where it is not installed, or cannot be used. */
export function createLinkedLibrary(specifier: string, log: Logger): () => Promise<LinkedLibrary | null> {
  let loading: Promise<LinkedLibrary | null> | null = null
  const load = () =>
    loadLibrary(specifier, (error) => {
      // Its stack, and nothing else that it carries: there may be keys in that.
      const { stack } = error as Error
      log.warn({ stack }, 'the library of linked devices has failed at something that nobody waited for')
    }).catch((error) => {
      log.error({ err: error, specifier }, 'the library of linked devices could not be loaded')
      return null
    })
  return () => {
    loading ??= load()
    return loading
  }
}

/** Whether some process of the service, this one perhaps, can run linked devices. */
export async function hasLinkedLibrary(
  ctx: Pick<Context, 'database' | 'processId' | 'linkedLibrary'>,
): Promise<boolean> {
  return (await doOthersRunDevices(ctx.database, ctx.processId)) || (await ctx.linkedLibrary()) !== null
}

/** Refuses what needs linked devices where no process can run them. Throws not_supported (contract 5). */
export async function requireLinkedLibrary(
  ctx: Pick<Context, 'database' | 'processId' | 'linkedLibrary'>,
): Promise<void> {
  if (!(await hasLinkedLibrary(ctx))) throw new Problem('not_supported', LIBRARY_MISSING)
}
