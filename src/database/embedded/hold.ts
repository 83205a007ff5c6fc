import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdir, rename, rm, rmdir, utimes } from 'node:fs/promises'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { ignoring } from '../../lib/files/ignoring.js'
import { type Owner, openSocketFolder, type Site } from './site.js'

/** The right to serve a data folder, held by one process. */
export interface Hold {
  /** Reports to waiting and later borrowers that the server accepts connections. */
  announceReady(): void
  /** Resolves when no other process uses the server. */
  borrowersGone(): Promise<void>
  /** Gives up the right; borrowers learn that the server is gone. */
  release(): Promise<void>
}

export type Claim = { outcome: 'held'; hold: Hold } | { outcome: 'taken'; pid: number }

/** Another process's server that this one uses. */
export interface Loan {
  /** resolves when the holder is gone */
  ended: Promise<void>
  giveBack(): void
}

const ATTEMPTS = 8
const HOUR_MS = 3_600_000

/**
 * Claims the data folder for this process, or returns the live process that holds it. A claim is a listening Unix
 * socket in the socket folder, which answers exactly as long as its process lives. Each claimant first listens and then
 * looks for others, so two always see each other; then both step back and retry after a random time.
 */
export async function claimFolder(site: Site, owner: Owner): Promise<Claim> {
  for (let attempt = 1; ; attempt++) {
    await openSocketFolder(site, owner)
    let holder = await findHolder(site.socketFolder)
    if (!holder) {
      // An earlier holder may have just removed the folder; listening then fails with EACCES (libuv's name for it).
      const vanished = attempt < ATTEMPTS ? ['ENOENT', 'EACCES'] : []
      const hold = await publish(site.socketFolder).catch(ignoring(...vanished))
      if (hold) {
        holder = await findHolder(site.socketFolder, hold.path)
        if (!holder) return { outcome: 'held', hold }
        await hold.release()
      }
    }
    if (holder && attempt >= ATTEMPTS) return { outcome: 'taken', pid: pidOf(holder) }
    await setTimeout(10 + Math.random() * 50)
  }
}

/** Finds the socket of a live process that holds or claims the folder, except `except`; removes those of dead ones. */
export async function findHolder(socketFolder: string, except?: string): Promise<string | undefined> {
  const names = (await readdir(socketFolder).catch(ignoring('ENOENT'))) ?? []
  for (const name of names.filter((name) => name.startsWith('holder-'))) {
    const path = join(socketFolder, name)
    if (path !== except && (await answers(path))) return path
  }
  return undefined
}

/** Borrows the server of the process at `holder` once it is ready; undefined if that process ended first. */
export async function borrow(holder: string): Promise<Loan | undefined> {
  const socket = connect(holder).on('error', () => socket.destroy())
  const ended = closed(socket)
  const ready = new Promise<boolean>((resolve) => socket.once('data', () => resolve(true)))
  const lent = await Promise.race([ready, ended.then(() => false)])
  return lent ? { ended, giveBack: () => socket.destroy() } : undefined
}

async function publish(socketFolder: string): Promise<Hold & { path: string }> {
  const name = `${process.pid}-${randomBytes(4).toString('hex')}`
  const borrowers = new Set<Socket>()
  const server = createServer()
  let ready = false
  server.on('connection', (socket) => {
    borrowers.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => borrowers.delete(socket))
    socket.resume() // else its end goes unnoticed
    if (ready) socket.write('ready')
  })
  // Renamed after it listens: a socket that is bound but does not listen yet looks dead.
  const path = join(socketFolder, `holder-${name}`)
  await listen(server, join(socketFolder, `new-${name}`))
  await rename(join(socketFolder, `new-${name}`), path)
  // Protects the socket from programs that clean up old temporary files.
  const touching = setInterval(() => utimes(path, new Date(), new Date()).catch(ignoring('ENOENT')), HOUR_MS).unref()
  return {
    path,
    announceReady() {
      ready = true
      for (const socket of borrowers) socket.write('ready')
    },
    async borrowersGone() {
      while (borrowers.size > 0) await Promise.all([...borrowers].map(closed))
    },
    async release() {
      clearInterval(touching)
      await rm(path, { force: true })
      for (const socket of borrowers) socket.destroy()
      server.close()
      await rmdir(socketFolder).catch(ignoring('ENOTEMPTY', 'EEXIST', 'ENOENT', 'EACCES', 'EPERM'))
    },
  }
}

async function listen(server: Server, path: string): Promise<void> {
  // The folder is closed to others; inside it the database's user may borrow from root.
  server.listen({ path, readableAll: true, writableAll: true })
  await once(server, 'listening')
}

function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once('close', () => resolve()))
}

async function answers(path: string): Promise<boolean> {
  const socket = connect(path)
  try {
    await once(socket, 'connect')
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ECONNREFUSED') await rm(path, { force: true })
    return code !== 'ECONNREFUSED' && code !== 'ENOENT'
  } finally {
    socket.destroy()
  }
}

function pidOf(holder: string): number {
  return Number(/holder-(\d+)-/.exec(holder)?.[1])
}
