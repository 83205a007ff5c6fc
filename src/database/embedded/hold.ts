import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdir, rename, rm, rmdir, utimes } from 'node:fs/promises'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { ignoring, type Owner, openSocketFolder, type Site } from './site.js'

/** The right to be the only process that serves a data folder. */
export interface Hold {
  /** Tells those who wait to borrow, now or later, that the server takes connections. */
  announceReady(): void
  /** Resolves when no process borrows the server any more. */
  borrowersGone(): Promise<void>
  /** Gives the right back; borrowers learn that the server is gone. */
  release(): Promise<void>
}

export type Claim = { outcome: 'held'; hold: Hold } | { outcome: 'taken'; pid: number }

/** Another process's server in use by this one. */
export interface Loan {
  /** resolves when the holder is gone */
  ended: Promise<void>
  giveBack(): void
}

const ATTEMPTS = 8
const HOUR_MS = 3_600_000

/**
 * Claims the data folder for this process, or says which live process holds it.
 *
 * A claim is a listening Unix socket in the socket folder: it answers exactly as long as its process lives, whatever ended it and
 * whoever got its process id since. Each claimant listens first and looks for others then, so that of two none overlooks the other;
 * if both see each other, both step back and try again after a random while.
 */
export async function claimFolder(site: Site, owner: Owner): Promise<Claim> {
  for (let attempt = 1; ; attempt++) {
    await openSocketFolder(site, owner)
    let holder = await findHolder(site.socketFolder)
    if (!holder) {
      // An earlier holder may have removed the folder just now; listening in it then fails with EACCES (libuv's word for it).
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

/** Finds the socket of a live process that holds or claims the folder, other than `except`; removes those of dead ones. */
export async function findHolder(socketFolder: string, except?: string): Promise<string | undefined> {
  const names = (await readdir(socketFolder).catch(ignoring('ENOENT'))) ?? []
  for (const name of names.filter((name) => name.startsWith('holder-'))) {
    const path = join(socketFolder, name)
    if (path !== except && (await answers(path))) return path
  }
  return undefined
}

/** Borrows the server of the process that listens at `holder`, once it is ready; undefined when that process went away before. */
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
  // Renamed when it listens: a socket that is bound but does not listen yet refuses like a dead one.
  const path = join(socketFolder, `holder-${name}`)
  await listen(server, join(socketFolder, `new-${name}`))
  await rename(join(socketFolder, `new-${name}`), path)
  // Kept young for those who clean up temporary folders by age.
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
  // The folder is closed to others; within, the database's user may borrow what root holds.
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
