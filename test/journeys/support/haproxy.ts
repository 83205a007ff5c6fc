import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../support/free-port.js'

const shipped = fileURLToPath(new URL('../../../deploy/haproxy/parley.cfg', import.meta.url))
const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin']
const path = folders.map((folder) => join(folder, 'haproxy')).find(isProgram)

/** Whether HAProxy is installed; tests that need it are skipped otherwise. */
export const hasHaproxy = path !== undefined

/** A running HAProxy. */
export interface Haproxy {
  url: string
  stop(): Promise<void>
}

/** Starts HAProxy with the shipped configuration in front of these ports of loopback; not all need a process. */
export async function startHaproxy(folder: string, ports: readonly number[]): Promise<Haproxy> {
  const port = await freePort()
  const servers = ports.map((one) => `  server p${one} 127.0.0.1:${one}\n`).join('')
  const config = (await readFile(shipped, 'utf8'))
    .replace(/bind :8080/, `bind 127.0.0.1:${port}`)
    .replace(/( {2}server .*\n)+/, servers)
    .replace(/inter 1s/, 'inter 200ms')
  const file = join(folder, 'haproxy.cfg')
  await writeFile(file, config)
  const child: ChildProcess = spawn(path ?? 'haproxy', ['-db', '-f', file], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const errors: string[] = []
  child.stderr?.on('data', (chunk) => errors.push(String(chunk)))
  const exited = once(child, 'exit')
  const url = `http://127.0.0.1:${port}`
  await Promise.race([
    untilItAnswers(url),
    exited.then(() => {
      throw new Error(`haproxy ended: ${errors.join('')}`)
    }),
  ])
  return {
    url,
    stop: async () => {
      child.kill('SIGTERM')
      await exited
    },
  }
}

/** Without a process behind it, it answers 503. */
async function untilItAnswers(url: string): Promise<void> {
  for (;;) {
    const answered = await fetch(url).then(
      () => true,
      () => false,
    )
    if (answered) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
