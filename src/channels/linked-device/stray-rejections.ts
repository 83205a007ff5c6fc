import { createRequire } from 'node:module'
import { dirname, isAbsolute, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { KeysNotRead, KeysNotWritten } from './key-store.js'

/** Hears of what a library has failed at while nobody waited for it. */
export type OnStray = (error: unknown) => void

/** What the stacks of such failures name: where the libraries are. */
const places = new Set<string>()
let hear: OnStray | null = null

/**
 * Keeps the process up where a promise of the library is rejected that nobody waits for: the library answers the network in listeners
 * that catch nothing, and a connection may end at any moment. What else is rejected so ends the process, as it does without this.
 * Once for a process; the one who asked last hears of them.
 */
export function outliveStrayRejections(specifier: string, onStray: OnStray): void {
  for (const place of placesOf(specifier)) places.add(place)
  if (hear === null) process.on('unhandledRejection', judge)
  hear = onStray
}

function judge(error: unknown): void {
  if (!isOfLibrary(error)) throw error
  hear?.(error)
}

function placesOf(specifier: string): string[] {
  if (!isAbsolute(specifier)) return [`/node_modules/${specifier}/`]
  const file = createRequire(import.meta.url).resolve(specifier)
  const folder = `${dirname(file)}${sep}`
  // Beside the service itself only the file tells them apart.
  const place = fileURLToPath(import.meta.url).startsWith(folder) ? file : folder
  return [place, pathToFileURL(place).href]
}

/** Keys that it was told of in vain it may have asked for unheard, too; and nobody else here makes Booms. */
function isOfLibrary(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error instanceof KeysNotRead || error instanceof KeysNotWritten || 'isBoom' in error) return true
  const { stack = '' } = error
  return [...places].some((place) => stack.includes(place)) || isBrokenConnection(error, stack)
}

const BROKEN = new Set(['ECONNRESET', 'EPIPE', 'ETIMEDOUT'])

/** What a socket tells of its own end has been raised by no code at all. */
function isBrokenConnection({ code = '' }: NodeJS.ErrnoException, stack: string): boolean {
  const frames = stack.split('\n').filter((line) => line.startsWith('    at '))
  return BROKEN.has(code) && frames.every((frame) => frame.includes('node:'))
}
