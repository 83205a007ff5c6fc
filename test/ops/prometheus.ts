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

/** An alert whose expression holds. */
export interface Alert {
  name: string
  state: 'pending' | 'firing'
}

/** A Prometheus that scrapes services. */
export interface Prometheus {
  /** The values of an expression's series now; `NaN` is one that says nothing. */
  query(expression: string): Promise<number[]>
  /** The names of all metrics that were ever scraped. */
  names(): Promise<Set<string>>
  /** The alerts whose expressions hold now. */
  alerts(): Promise<Alert[]>
  /** The names of all alerts that ever fired. */
  fired(): Promise<string[]>
  stop(): Promise<void>
}

export interface PrometheusOptions {
  /** How often it scrapes, and how long it waits for an answer; by default five times a second. */
  interval?: string
  /** A file of rules. */
  rules?: string
}

/** Starts Prometheus, which scrapes the services at `urls` as the job `parley`. */
export async function startPrometheus(
  urls: string[],
  { interval = '200ms', rules }: PrometheusOptions = {},
): Promise<Prometheus> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-prometheus-'))
  const port = await freePort()
  const address = `127.0.0.1:${port}`
  const targets = urls.map((url) => new URL(url).host)
  const rulesFile = join(folder, 'rules.yml')
  if (rules !== undefined) await writeFile(rulesFile, rules)
  const config = {
    global: { scrape_interval: interval, scrape_timeout: interval, evaluation_interval: '1s' },
    scrape_configs: [{ job_name: 'parley', static_configs: [{ targets }] }],
    ...(rules !== undefined && { rule_files: [rulesFile] }),
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
    alerts: async () => {
      const { alerts } = (await ask('alerts')) as { alerts: { labels: { alertname: string }; state: Alert['state'] }[] }
      return alerts.map(({ labels, state }) => ({ name: labels.alertname, state }))
    },
    fired: async () => {
      const firing = encodeURIComponent('last_over_time(ALERTS{alertstate="firing"}[1d])')
      const { result } = (await ask(`query?query=${firing}`)) as { result: { metric: { alertname: string } }[] }
      return [...new Set(result.map(({ metric }) => metric.alertname))]
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
