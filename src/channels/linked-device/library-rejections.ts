import { createRequire } from 'node:module'
import { dirname, isAbsolute, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { KeysNotRead, KeysNotWritten } from './keys/key-store.js'

/** Receives errors of the library that no caller awaits. */
export type OnLibraryRejection = (error: unknown) => void

/** The locations of the library, as they appear in stack traces. */
const locations = new Set<string>()
let listener: OnLibraryRejection | null = null

/**
 * Keeps the process alive when the library rejects a promise that no caller awaits: its listeners catch nothing, and a
 * connection may end at any moment. Other unhandled rejections still end the process. One handler per process; the last
 * caller's `onRejection` gets the errors.
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
  // If the library lies next to the service's own files, only the file name distinguishes them.
  const location = fileURLToPath(import.meta.url).startsWith(folder) ? file : folder
  return [location, pathToFileURL(location).href]
}

/** The library may ask for keys without handling the failure, and only the library uses Booms. */
function isOfLibrary(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error instanceof KeysNotRead || error instanceof KeysNotWritten || 'isBoom' in error) return true
  const { stack = '' } = error
  return [...locations].some((location) => stack.includes(location)) || isBrokenConnection(error, stack)
}

const BROKEN = new Set(['ECONNRESET', 'EPIPE', 'ETIMEDOUT'])

/** A socket raises the error of its own end from no code at all. */
function isBrokenConnection({ code = '' }: NodeJS.ErrnoException, stack: string): boolean {
  const frames = stack.split('\n').filter((line) => line.startsWith('    at '))
  return BROKEN.has(code) && frames.every((frame) => frame.includes('node:'))
}
