import { execFile } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'

/** Whether ffmpeg is installed; tests that need it are skipped otherwise. */
export const hasFfmpeg = (process.env.PATH ?? '').split(delimiter).some(holdsFfmpeg)

/** The notice at the start of a run without it. */
export const NO_FFMPEG = 'No ffmpeg was found on the PATH: the tests that convert files are skipped'

/** Creates a file with ffmpeg; `options` precede it. */
export async function makeWithFfmpeg(path: string, ...options: string[]): Promise<void> {
  await promisify(execFile)('ffmpeg', ['-hide_banner', '-loglevel', 'error', '-y', ...options, path])
}

/** ffmpeg's description of a file: its container and streams. */
export async function describeMedia(path: string): Promise<string> {
  const { stderr } = await promisify(execFile)('ffmpeg', ['-hide_banner', '-i', path, '-f', 'null', '-'])
  return stderr
}

/** Runs the work as on a machine without ffmpeg. */
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
