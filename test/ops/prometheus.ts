import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '../support/free-port.js'

/** Whether Prometheus with its promtool is installed; tests that need it are skipped otherwise. */
export const hasPrometheus = isInstalled('prometheus') && isInstalled('promtool')

/** Runs promtool; rejects if it finds a fault. */
export async function promtool(...args: string[]): Promise<void> {
  await promisify(execFile)('promtool', args)
}

/** A Prometheus that scrapes one service. */
export interface Prometheus {
  /** The values of an expression's series now; `NaN` is one that says nothing. */
  query(expression: string): Promise<number[]>
  /** The names of all metrics that were ever scraped. */
  names(): Promise<Set<string>>
  stop(): Promise<void>
}

/** Starts Prometheus, which scrapes the service at `url` five times a second as the job `parley`. */
export async function startPrometheus(url: string): Promise<Prometheus> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-prometheus-'))
  const port = await freePort()
  const address = `127.0.0.1:${port}`
  const config = {
    global: { scrape_interval: '200ms', scrape_timeout: '200ms' },
    scrape_configs: [{ job_name: 'parley', static_configs: [{ targets: [new URL(url).host] }] }],
  }
  const file = join(folder, 'prometheus.yml')
  await writeFile(file, JSON.stringify(config))
  const data = `--storage.tsdb.path=${join(folder, 'data')}`
  const child = spawn('prometheus', [`--config.file=${file}`, data, `--web.listen-address=${address}`], {
    stdio: 'ignore',
  })
  const exited = once(child, 'exit')
  const ask = async (path: string) => {
    const answer = await fetch(`http://${address}/api/v1/${path}`)
    const { status, data, error } = (await answer.json()) as Answer
    if (status !== 'success') throw new Error(`${path}: ${error}`)
    return data
  }
  return {
    query: async (expression) => {
      const data = await ask(`query?query=${encodeURIComponent(expression)}`)
      return (data as { result: { value: [number, string] }[] }).result.map(({ value }) => Number(value[1]))
    },
    names: async () => new Set((await ask('label/__name__/values')) as string[]),
    stop: async () => {
      child.kill('SIGTERM')
      await exited
      await rm(folder, { recursive: true, force: true })
    },
  }
}

interface Answer {
  status: string
  data: unknown
  error?: string
}

function isInstalled(program: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK)
      return folder !== ''
    } catch {
      return false
    }
  })
}
