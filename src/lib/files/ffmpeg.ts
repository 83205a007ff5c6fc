import { execFile, spawn } from 'node:child_process'
import { constants, setPriority } from 'node:os'

/** The outcome of a conversion. */
export type Conversion =
  | { outcome: 'converted' }
  /** ffmpeg is not installed. */
  | { outcome: 'missing' }
  /** `text`: ffmpeg's first message. */
  | { outcome: 'failed'; text: string }

export interface ConversionOptions {
  /** The formats that the source may have, by ffmpeg's names; some formats would make it read other files. */
  formats: readonly string[]
  /** Options for reading: those before the source. */
  input?: readonly string[]
  /** Options for writing: those before the target. */
  output: readonly string[]
  maxBytes: number
  timeoutMs: number
}

const MAX_SAID = 2_000
const MAX_TOLD = 300

/** Lets other processes use the processors first: a conversion can wait, a request cannot. */
function giveWay(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_LOW)
  } catch {
    // It has ended already.
  }
}

/** True if ffmpeg is installed and runs. */
export function isFfmpegInstalled(): Promise<boolean> {
  return new Promise((resolve) => {
    execFile('ffmpeg', ['-version'], (error) => resolve(error === null))
  })
}

/**
 * Converts the file at `source` to `target` with the machine's ffmpeg, which may read nothing else. The target is cut
 * off at `maxBytes`. Never throws.
 */
export function convertFile(source: string, target: string, options: ConversionOptions): Promise<Conversion> {
  const { formats, input = [], output, maxBytes, timeoutMs } = options
  const within = ['-protocol_whitelist', 'file', '-format_whitelist', formats.join(',')]
  const limits = ['-fs', String(maxBytes), '-map_metadata', '-1', '-threads', '1']
  const named = ['-i', `file:${source}`, ...output, ...limits, `file:${target}`]
  const all = ['-hide_banner', '-nostdin', '-loglevel', 'error', '-y', ...within, ...input, ...named]
  return new Promise((resolve) => {
    const child = spawn('ffmpeg', all, {
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
    })
    if (child.pid !== undefined) giveWay(child.pid)
    let said = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(0, MAX_SAID)
    })
    child.once('error', (error: NodeJS.ErrnoException) => {
      resolve(error.code === 'ENOENT' ? { outcome: 'missing' } : { outcome: 'failed', text: error.message })
    })
    child.once('close', (code, signal) => {
      if (code === 0) resolve({ outcome: 'converted' })
      else if (signal !== null) resolve({ outcome: 'failed', text: `it took longer than ${timeoutMs / 1_000} s` })
      else resolve({ outcome: 'failed', text: firstLine(said, [source, target]) })
    })
  })
}

/** The first message, without ffmpeg's component names and without paths of this machine. */
function firstLine(said: string, paths: readonly string[]): string {
  const [line = ''] = said.trim().split('\n')
  const told = paths.reduce((text, path) => text.replaceAll(`file:${path}`, 'the file'), line)
  return told.replace(/^(\[[^\]]*\] )+/, '').slice(0, MAX_TOLD) || 'ffmpeg could not read it'
}
