import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { vi } from 'vitest'
import { freePort } from '../../support/free-port.js'
import { patience } from '../../support/patience.js'

/** A running proxy. */
export interface RunningProxy {
  url: string
  stop(): Promise<void>
}

/** A cell behind a proxy: the address in place of its host name, and the port of its process. */
export interface CellPlace {
  host: string
  port: number
}

export type ProxyName = 'haproxy' | 'nginx' | 'caddy'

/** Addresses of this machine, at which a proxy for cells listens: the common one and those in place of host names. */
const ADDRESSES = ['127.0.0.1', '127.0.0.2', '127.0.0.3']

/** Whether the program is installed; tests that need it are skipped otherwise. */
export function hasProxy(name: ProxyName): boolean {
  return pathOf(name) !== undefined
}

/**
 * Starts a proxy with the shipped configuration in front of these ports of loopback; not all need a process. Its files
 * are in a folder of its own below `parent`.
 */
export async function startProxy(name: ProxyName, parent: string, ports: readonly number[]): Promise<RunningProxy> {
  const folder = join(parent, name)
  await mkdir(folder)
  const port = await freePort()
  const servers = (line: (port: number) => string) => ports.map(line).join('')
  if (name === 'caddy') {
    const addresses = servers((one) => ` 127.0.0.1:${one}`)
    return runCaddy(folder, (await readShipped('caddy/Caddyfile')).replace(/( 127\.0\.0\.1:\d+)+/, addresses), port)
  }
  if (name === 'nginx') {
    const lines = servers((one) => `  server 127.0.0.1:${one} fail_timeout=1s;\n`)
    const shipped = (await readShipped('nginx/parley.conf')).replace(/( {2}server 127.*\n)+/, lines)
    return runNginx(folder, shipped, [`127.0.0.1:${port}`])
  }
  const lines = servers((one) => `  server p${one} 127.0.0.1:${one}\n`)
  const shipped = (await readShipped('haproxy/parley.cfg')).replace(/( {2}server .*\n)+/, lines)
  return runHaproxy(folder, shipped, [`127.0.0.1:${port}`])
}

/**
 * Starts a proxy with the shipped configuration for cells, at a port of three addresses of this machine. `moved`: how a
 * key of eu1 begins whose organization has moved to us1.
 */
export async function startProxyForCells(
  name: Exclude<ProxyName, 'caddy'>,
  folder: string,
  { port, cells, moved }: { port: number; cells: Record<string, CellPlace>; moved?: string },
): Promise<RunningProxy> {
  const addresses = ADDRESSES.map((address) => `${address}:${port}`)
  let shipped = await readShipped(name === 'haproxy' ? 'haproxy/cells.cfg' : 'nginx/cells.conf')
  for (const [cell, place] of Object.entries(cells)) {
    const haproxyServers = new RegExp(`( {2}server ${cell}-.*\n)+`)
    const nginxServers = new RegExp(`(upstream ${cell} {\n)( {2}server .*\n)+`)
    shipped = shipped
      .replace(`${cell}.chat.example.com`, place.host)
      .replace(haproxyServers, `  server ${cell} 127.0.0.1:${place.port}\n`)
      .replace(nginxServers, `$1  server 127.0.0.1:${place.port};\n`)
  }
  if (moved !== undefined) {
    // The comment that shows the form becomes a line.
    shipped = shipped.replace(/# (.*)Ab3dEf/, `$1${moved.replace('parley_eu1_', '')}`)
  }
  return name === 'haproxy' ? runHaproxy(folder, shipped, addresses) : runNginx(folder, shipped, addresses)
}

/** Starts HAProxy with the shipped configuration in front of PostgreSQL servers, each with the port of its check. */
export async function startDatabaseProxy(
  folder: string,
  servers: readonly { port: number; checkPort: number }[],
): Promise<RunningProxy> {
  const lines = servers.map(({ port, checkPort }) => `  server p${port} 127.0.0.1:${port} port ${checkPort}\n`)
  const shipped = (await readShipped('haproxy/postgresql.cfg')).replace(/( {2}server .*\n)+/, lines.join(''))
  return runHaproxy(folder, shipped, [`127.0.0.1:${await freePort()}`])
}

async function runHaproxy(folder: string, shipped: string, addresses: readonly string[]): Promise<RunningProxy> {
  const config = shipped.replace(/bind \S*:\d+/, `bind ${addresses.join(',')}`)
  const file = join(folder, 'haproxy.cfg')
  await writeFile(file, config)
  return run('haproxy', ['-db', '-f', file], `http://${addresses[0]}`)
}

/** Without TLS, which the journey of the proxies covers. */
async function runNginx(folder: string, shipped: string, addresses: readonly string[]): Promise<RunningProxy> {
  const [rest, sites] = splitAt(shipped, 'server {\n  listen 80')
  const [, site] = splitAt(sites, 'server {\n  listen 443')
  const listens = addresses.map((address) => `listen ${address};`).join(' ')
  const plain = site
    .replace(/listen 443 ssl http2;/, listens)
    .replace(/ {2}ssl_.*\n/g, '')
    .replace(/server_name .*/, '')
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  const paths = kinds.map((kind) => `${kind}_temp_path ${folder}/${kind};`).join(' ')
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  const file = join(folder, 'nginx.conf')
  await writeFile(
    file,
    `${user} daemon off; pid ${folder}/pid; error_log ${folder}/errors; events {} http { access_log off; ${paths} ${rest} ${plain} }`,
  )
  return run('nginx', ['-p', folder, '-c', file, '-e', join(folder, 'errors')], `http://${addresses[0]}`)
}

/** Without TLS, as above. */
async function runCaddy(folder: string, shipped: string, port: number): Promise<RunningProxy> {
  const url = `http://127.0.0.1:${port}`
  const file = join(folder, 'Caddyfile')
  const options = `{\n\tadmin off\n\tstorage file_system ${folder}\n}\n`
  await writeFile(file, options + shipped.replace('\nchat.example.com {', `\n${url} {`))
  return run('caddy', ['run', '--adapter', 'caddyfile', '--config', file], url, folder)
}

async function run(name: ProxyName, args: string[], url: string, home?: string): Promise<RunningProxy> {
  const env =
    home === undefined ? process.env : { ...process.env, HOME: home, XDG_CONFIG_HOME: home, XDG_DATA_HOME: home }
  const child: ChildProcess = spawn(pathOf(name) ?? name, args, { stdio: ['ignore', 'ignore', 'pipe'], env })
  const errors: string[] = []
  child.stderr?.on('data', (chunk) => errors.push(String(chunk)))
  const exited = once(child, 'exit')
  await Promise.race([
    untilItListens(url),
    exited.then(() => {
      throw new Error(`${name} ended: ${errors.join('')}`)
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

/** It is not asked for anything: without a process behind it, Caddy would answer after 10 s. */
async function untilItListens(url: string): Promise<void> {
  const { hostname, port } = new URL(url)
  await vi.waitFor(async () => {
    const socket = connect(Number(port), hostname)
    await once(socket, 'connect').finally(() => socket.destroy())
  }, patience)
}

function readShipped(path: string): Promise<string> {
  return readFile(fileURLToPath(new URL(`../../../deploy/${path}`, import.meta.url)), 'utf8')
}

function splitAt(text: string, at: string): [string, string] {
  const place = text.indexOf(at)
  if (place === -1) throw new Error(`the shipped configuration lacks ${JSON.stringify(at)}`)
  return [text.slice(0, place), text.slice(place)]
}

function pathOf(name: ProxyName): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin']
  return folders.map((folder) => join(folder, name)).find(isProgram)
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
