import { execFile } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { appendFile, chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { freePort } from '../../support/free-port.js'
import { descendantsOf } from './process-table.js'

const run = promisify(execFile)
const isRoot = process.geteuid?.() === 0

/** A PostgreSQL of this machine's packages, on a loopback port. */
export interface ArchivingServer {
  url: string
  stop(): Promise<void>
}

/** One that archives its log, with a base backup. */
export interface ArchivedServer extends ArchivingServer {
  /** Ends all its processes at once, as if its machine lost its power. */
  kill(): Promise<void>
  /** Starts it again over the same data. */
  start(): Promise<void>
  /** Runs a query as superuser in the database of Parley; the rows. */
  query(text: string): Promise<Record<string, unknown>[]>
  takeBaseBackup(): Promise<void>
  /** Starts a hot standby that receives the log as it is written. */
  startStandby(): Promise<Standby>
  /** Starts another server on a copy of the base backup, restored to a moment and writable. */
  restoreTo(moment: string, name: string): Promise<ArchivingServer>
}

/** A read-only server. */
export interface Standby extends ArchivingServer {
  /** Makes it writable, on a new timeline. */
  promote(): Promise<void>
  /** Runs a query as superuser in the database of Parley; the rows. */
  query(text: string): Promise<Record<string, unknown>[]>
}

/** The folder of the newest server's programs; null: none is installed. */
export function findPostgres(): string | null {
  const parent = '/usr/lib/postgresql'
  const versions = existsSync(parent) ? readdirSync(parent).sort((one, other) => Number(other) - Number(one)) : []
  const programs = versions.map((version) => join(parent, version, 'bin'))
  return programs.find((folder) => existsSync(join(folder, 'pg_basebackup'))) ?? null
}

/** PostgreSQL refuses to run as root; its package brings a user for it. */
function asServer(command: string, args: string[]): Promise<unknown> {
  const options = { cwd: '/', maxBuffer: 1_048_576 }
  return isRoot ? run('runuser', ['-u', 'postgres', '--', command, ...args], options) : run(command, args, options)
}

/** Starts a server with its data and its archive below `parent`, and an empty database for Parley. */
export async function startArchivedServer(programs: string, parent: string): Promise<ArchivedServer> {
  const folder = join(parent, 'server')
  const archive = join(folder, 'archive')
  const base = join(folder, 'base')
  await mkdir(folder)
  // The user of the server has to enter both.
  await chmod(parent, 0o711)
  await chmod(folder, 0o777)
  const data = join(folder, 'data')
  await asServer('mkdir', [archive])
  const made = ['-D', data, '-U', 'postgres', '--auth=trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync']
  await asServer(join(programs, 'initdb'), made)
  const port = await freePort()
  await configure(data, port, folder, [
    'archive_mode = on',
    `archive_command = 'cp %p ${archive}/%f.part && mv ${archive}/%f.part ${archive}/%f'`,
  ])
  await start(programs, data)
  const urlOf = (database: string) => `postgres://postgres@127.0.0.1:${port}/${database}`
  await ask(urlOf('postgres'), 'CREATE DATABASE parley')
  const url = urlOf('parley')
  return {
    url,
    stop: () => stop(programs, data),
    kill: () => kill(data),
    start: () => start(programs, data),
    query: (text) => ask(url, text),
    takeBaseBackup: async () => {
      const target = ['-D', base, '-X', 'none', '--checkpoint=fast', '--no-sync', '--no-manifest']
      await asServer(join(programs, 'pg_basebackup'), [
        '-h',
        '127.0.0.1',
        '-p',
        String(port),
        '-U',
        'postgres',
        ...target,
      ])
    },
    startStandby: async () => {
      const copy = join(folder, 'standby')
      const target = ['-D', copy, '-X', 'stream', '-R', '--checkpoint=fast', '--no-sync']
      await asServer(join(programs, 'pg_basebackup'), ['-d', urlOf('postgres'), ...target])
      const ownPort = await freePort()
      await configure(copy, ownPort, folder, ['archive_mode = off'])
      await start(programs, copy)
      const standby = `postgres://postgres@127.0.0.1:${ownPort}/parley`
      return {
        url: standby,
        query: (text) => ask(standby, text),
        stop: () => stop(programs, copy),
        promote: async () => {
          await asServer(join(programs, 'pg_ctl'), ['promote', '--silent', '-D', copy])
        },
      }
    },
    restoreTo: async (moment, name) => {
      const copy = join(folder, name)
      await asServer('cp', ['-a', base, copy])
      const ownPort = await freePort()
      await configure(copy, ownPort, folder, [
        'archive_mode = off',
        `restore_command = 'cp ${archive}/%f %p'`,
        `recovery_target_time = '${moment}'`,
        `recovery_target_action = 'promote'`,
      ])
      await asServer('touch', [join(copy, 'recovery.signal')])
      await start(programs, copy)
      const restored = `postgres://postgres@127.0.0.1:${ownPort}/parley`
      await untilWritable(restored)
      return {
        url: restored,
        stop: async () => {
          await stop(programs, copy)
          await rm(copy, { recursive: true, force: true })
        },
      }
    },
  }
}

async function configure(data: string, port: number, sockets: string, lines: string[]): Promise<void> {
  const fixed = [
    `port = ${port}`,
    `listen_addresses = '127.0.0.1'`,
    `unix_socket_directories = '${sockets}'`,
    'fsync = off',
    'shared_buffers = 32MB',
  ]
  await appendFile(join(data, 'postgresql.conf'), `\n${[...fixed, ...lines].join('\n')}\n`)
}

async function start(programs: string, data: string): Promise<void> {
  const log = `${data}.log`
  await writeFile(log, '', { mode: 0o666 })
  await chmod(log, 0o666)
  await asServer(join(programs, 'pg_ctl'), ['start', '--silent', '--wait', '-D', data, '-l', log]).catch(async () => {
    throw new Error(`PostgreSQL did not start: ${await readFile(log, 'utf8')}`)
  })
}

async function stop(programs: string, data: string): Promise<void> {
  await asServer(join(programs, 'pg_ctl'), ['stop', '--silent', '--mode=fast', '-D', data])
}

async function kill(data: string): Promise<void> {
  const [first] = (await readFile(join(data, 'postmaster.pid'), 'utf8')).split('\n')
  const others = await descendantsOf(Number(first))
  process.kill(Number(first), 'SIGKILL')
  for (const pid of others) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It has noticed the end of the first, and ended.
    }
  }
}

/** Runs a query on a connection of its own; the rows. */
export async function ask(connectionString: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString })
  // A server that dies between two messages breaks the client, which the next call reports. Without a listener, the
  // client's event would end the process.
  client.on('error', () => undefined)
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

async function untilWritable(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    while ((await client.query('SELECT pg_is_in_recovery() AS paused')).rows[0].paused) {
      await client.query('SELECT pg_sleep(0.02)')
    }
  } finally {
    await client.end()
  }
}
