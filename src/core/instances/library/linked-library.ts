import { createRequire } from 'node:module'
import type { Logger } from 'pino'
import { type LinkedLibrary, loadLibrary } from '../../../channels/linked-device/library.js'
import type { Context } from '../../../context.js'
import { Problem } from '../../../model/problem.js'
import { doOthersRunDevices } from '../../../storage/instances/leases.js'

/** What to do if linked devices cannot be run. */
export const LIBRARY_MISSING =
  'Linked devices need a library that is installed separately: run `npm install --prefix /opt/linked-devices baileys@7.0.0-rc14`, set PARLEY_LINKED_DEVICE_LIBRARY=/opt/linked-devices/node_modules/baileys and restart the service (docs/linked-devices.md has the commands for a checkout and for the image); or use an instance of the kind WHATSAPP-BUSINESS, which is a business number'

/** True if the library seems to be installed. It is large, so it is loaded only when needed. */
export function isLibraryInstalled(specifier: string): boolean {
  try {
    createRequire(import.meta.url).resolve(specifier)
    return true
  } catch (error) {
    // Found, but it only supports `import`.
    return (error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND'
  }
}

/** Loads the library on first use; null if it is not installed or cannot be used. */
export function createLinkedLibrary(specifier: string, log: Logger): () => Promise<LinkedLibrary | null> {
  let loading: Promise<LinkedLibrary | null> | null = null
  const load = () =>
    loadLibrary(specifier, (error) => {
      // Only the stack: other properties may contain keys.
      const { stack } = error as Error
      log.warn({ stack }, 'unhandled rejection in the library of linked devices')
    }).catch((error) => {
      log.error({ err: error, specifier }, 'the library of linked devices could not be loaded')
      return null
    })
  return () => {
    loading ??= load()
    return loading
  }
}

/** True if some process of the service can run linked devices. */
export async function hasLinkedLibrary(
  ctx: Pick<Context, 'database' | 'processId' | 'linkedLibrary'>,
): Promise<boolean> {
  return (await doOthersRunDevices(ctx.database, ctx.processId)) || (await ctx.linkedLibrary()) !== null
}

/** Throws not_supported if no process can run linked devices. */
export async function requireLinkedLibrary(
  ctx: Pick<Context, 'database' | 'processId' | 'linkedLibrary'>,
): Promise<void> {
  if (!(await hasLinkedLibrary(ctx))) throw new Problem('not_supported', LIBRARY_MISSING)
}
