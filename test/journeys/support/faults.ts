import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach } from 'vitest'
import { endPrograms } from './programs.js'
import { makeFolder } from './service.js'

/** For programs with a fault. */

/**
 * Gives each test of a file a folder. The result tells the settings of programs that live there, call the sandbox and
 * have a fault when they get SIGUSR2.
 */
export function prepareFaults(): () => Record<string, string> {
  let folder: Awaited<ReturnType<typeof makeFolder>>

  beforeEach(async () => {
    folder = await makeFolder()
  })

  afterEach(async () => {
    await endPrograms()
    await folder.remove()
  })

  return () => ({
    PARLEY_DATA_DIR: join(folder.path, 'data'),
    PARLEY_PORT: '0',
    PARLEY_UPSTREAM_URL: 'sandbox',
    PARLEY_ALLOWED_PRIVATE_HOSTS: '127.0.0.0/8',
    NODE_OPTIONS: `--import=${fileURLToPath(new URL('fault.mjs', import.meta.url))}`,
  })
}
