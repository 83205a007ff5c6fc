import { execFile } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'

/** Whether ffmpeg is installed where the tests run: what needs it is left out elsewhere. */
export const hasFfmpeg = (process.env.PATH ?? '').split(delimiter).some(holdsFfmpeg)

/** What is said at the start of a run where there is none. */
export const NO_FFMPEG = 'No ffmpeg was found on the PATH: the tests that convert files are skipped'

/** Makes a file with ffmpeg; `options` stand before it. */
export async function makeWithFfmpeg(path: string, ...options: string[]): Promise<void> {
  await promisify(execFile)('ffmpeg', ['-hide_banner', '-loglevel', 'error', '-y', ...options, path])
}

/** What is in a file, as ffmpeg tells people: its container and what it holds. */
export async function describeMedia(path: string): Promise<string> {
  const { stderr } = await promisify(execFile)('ffmpeg', ['-hide_banner', '-i', path, '-f', 'null', '-'])
  return stderr
}

/** Does something as on a machine without ffmpeg. */
export async function withoutFfmpeg(work: () => Promise<void>): Promise<void> {
  const path = process.env.PATH
  process.env.PATH = ''
  try {
    await work()
  } finally {
    process.env.PATH = path
  }
}

function holdsFfmpeg(folder: string): boolean {
  try {
    accessSync(join(folder, 'ffmpeg'), constants.X_OK)
    return folder !== ''
  } catch {
    return false
  }
}
