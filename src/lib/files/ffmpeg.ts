import { execFile, spawn } from 'node:child_process'

/** What became of a file that was to be converted. */
export type Conversion =
  | { outcome: 'converted' }
  /** There is no ffmpeg on this machine. */
  | { outcome: 'missing' }
  /** `text`: what ffmpeg said first. */
  | { outcome: 'failed'; text: string }

export interface ConversionOptions {
  /** The formats that the source may have, as ffmpeg names them: some would lead it to further files. */
  formats: readonly string[]
  /** How it is to be read: options before the source. */
  input?: readonly string[]
  /** What is to be made of it: options before the target. */
  output: readonly string[]
  maxBytes: number
  timeoutMs: number
}

const MAX_SAID = 2_000
const MAX_TOLD = 300

/** Whether this machine has ffmpeg, and it runs. */
export function isFfmpegInstalled(): Promise<boolean> {
  return new Promise((resolve) => {
    execFile('ffmpeg', ['-version'], (error) => resolve(error === null))
  })
}

/**
 * Makes the file at `target` from that at `source` with the program ffmpeg of this machine, which reads nothing else. A target that
 * would be larger than `maxBytes` ends there. Never throws.
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

/** What went wrong first, without the part of ffmpeg that says it. Nobody is told where files lie here. */
function firstLine(said: string, paths: readonly string[]): string {
  const [line = ''] = said.trim().split('\n')
  const told = paths.reduce((text, path) => text.replaceAll(`file:${path}`, 'the file'), line)
  return told.replace(/^(\[[^\]]*\] )+/, '').slice(0, MAX_TOLD) || 'ffmpeg could not read it'
}
