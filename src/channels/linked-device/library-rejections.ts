import { createRequire } from 'node:module'
import { dirname, isAbsolute, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { KeysNotRead, KeysNotWritten } from './key-store.js'

/** Hears of what a library has failed at while nobody waited for it. */
export type OnLibraryRejection = (error: unknown) => void

/** What the stacks of such failures name: where the libraries are. */
const locations = new Set<string>()
let listener: OnLibraryRejection | null = null

/**
 * Keeps the process up where a promise of the library is rejected that nobody waits for: the library answers the network in listeners
 * that catch nothing, and a connection may end at any moment. What else is rejected so ends the process, as it does without this.
 * Once for a process; the one who asked last hears of them.
 */
export function surviveLibraryRejections(specifier: string, onRejection: OnLibraryRejection): void {
  for (const location of locationsOf(specifier)) locations.add(location)
  if (listener === null) process.on('unhandledRejection', handleRejection)
  listener = onRejection
}

function handleRejection(error: unknown): void {
  if (!isOfLibrary(error)) throw error
  listener?.(error)
}

function locationsOf(specifier: string): string[] {
  if (!isAbsolute(specifier)) return [`/node_modules/${specifier}/`]
  const file = createRequire(import.meta.url).resolve(specifier)
  const folder = `${dirname(file)}${sep}`
  // Beside the service itself only the file tells them apart.
  const location = fileURLToPath(import.meta.url).startsWith(folder) ? file : folder
  return [location, pathToFileURL(location).href]
}

/** Keys that it was told of in vain it may have asked for unheard, too; and nobody else here makes Booms. */
function isOfLibrary(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error instanceof KeysNotRead || error instanceof KeysNotWritten || 'isBoom' in error) return true
  const { stack = '' } = error
  return [...locations].some((location) => stack.includes(location)) || isBrokenConnection(error, stack)
}

const BROKEN = new Set(['ECONNRESET', 'EPIPE', 'ETIMEDOUT'])

/** What a socket tells of its own end has been raised by no code at all. */
function isBrokenConnection({ code = '' }: NodeJS.ErrnoException, stack: string): boolean {
  const frames = stack.split('\n').filter((line) => line.startsWith('    at '))
  return BROKEN.has(code) && frames.every((frame) => frame.includes('node:'))
}
