import { chooseAccount } from './embedded/account.js'
import { findBinaries } from './embedded/binaries.js'
import { EmbeddedDatabaseError, folderInUse } from './embedded/error.js'
import type { Guarded } from './embedded/guarded.js'
import { borrow, claimFolder, findHolder, type Hold } from './embedded/hold.js'
import { clearLeftover } from './embedded/leftover.js'
import { createDatabase, NAME, PORT, type Setup, startServer, takeOwnership } from './embedded/server.js'
import { inspectSite, isTrustedSocketFolder, type Owner, type Site } from './embedded/site.js'

export { type BaseFile, takeBaseBackup } from './embedded/base-backup.js'
export { EmbeddedDatabaseError } from './embedded/error.js'
export { findLastBackup, noteBackup } from './embedded/last-backup.js'

export interface EmbeddedDatabaseOptions {
  /** PostgreSQL's data folder, created if missing */
  folder: string
  /** additional PostgreSQL settings by name; tests pass `{ fsync: 'off' }` */
  settings?: Record<string, string>
  /** gets the server's messages from WARNING upwards, line by line */
  log?: (message: string) => void
}

export interface EmbeddedDatabase {
  /** for node-postgres: `host` is the folder of the Unix socket */
  connection: { host: string; port: number; user: string; database: string }
  /** resolves if the server ends on its own, not through `stop` */
  ended: Promise<void>
  /** stops the server (or returns a shared one) and resolves when it is gone; may be called more than once */
  stop(): Promise<void>
}

/**
 * Starts PostgreSQL on the folder for this process only, on a Unix socket; the first start creates the database. It
 * ends with this process in any case. Throws EmbeddedDatabaseError for what an operator can fix: no binaries for the
 * platform, a folder that is not writable, in use or of another PostgreSQL version, no user to run as.
 */
export async function startEmbeddedDatabase(options: EmbeddedDatabaseOptions): Promise<EmbeddedDatabase> {
  const setup = await prepare(options)
  return serve(setup, await claim(setup), { waitForBorrowers: false })
}

/**
 * For commands next to the service: shares the server of a running process, or starts one until `stop`, which then
 * waits for other commands that share it. Throws like `startEmbeddedDatabase`.
 */
export async function openEmbeddedDatabase(options: EmbeddedDatabaseOptions): Promise<EmbeddedDatabase> {
  for (;;) {
    const borrowed = await borrowServer(await inspectSite(options.folder))
    if (borrowed) return borrowed
    const setup = await prepare(options)
    const claim = await claimFolder(setup.site, socketOwner(setup))
    if (claim.outcome === 'held') return serve(setup, claim.hold, { waitForBorrowers: true })
  }
}

/**
 * Keeps every other process from serving the folder until the function that it returns is called. Throws like
 * `startEmbeddedDatabase`.
 */
export async function holdFolder(folder: string): Promise<() => Promise<void>> {
  const hold = await claim(await prepare({ folder }))
  return hold.release
}

interface Prepared extends Setup {
  /** PostgreSQL's major version */
  major: string
}

async function prepare({ folder, settings = {}, log = () => {} }: EmbeddedDatabaseOptions): Promise<Prepared> {
  const binaries = await findBinaries()
  const site = await inspectSite(folder)
  const { account, major } = await chooseAccount(site, binaries.postgres)
  return { site, account, binaries, settings, log, major }
}

async function claim(setup: Prepared): Promise<Hold> {
  const claimed = await claimFolder(setup.site, socketOwner(setup))
  if (claimed.outcome === 'taken') throw folderInUse(setup.site.folder, claimed.pid)
  return claimed.hold
}

async function borrowServer(site: Site): Promise<EmbeddedDatabase | undefined> {
  if (!(await isTrustedSocketFolder(site))) return undefined
  const holder = await findHolder(site.socketFolder)
  const loan = holder && (await borrow(holder))
  if (!loan) return undefined
  let givenBack = false
  return {
    connection: connectionTo(site),
    ended: unless(() => givenBack, loan.ended),
    async stop() {
      givenBack = true
      loan.giveBack()
    },
  }
}

async function serve(
  setup: Prepared,
  hold: Hold,
  { waitForBorrowers }: { waitForBorrowers: boolean },
): Promise<EmbeddedDatabase> {
  let stopping = false
  const server = await startOn(setup, hold, (message) => {
    if (!stopping) setup.log(message)
  })
  hold.announceReady()
  const gone = server.exited.then(() => hold.release())
  const stop = async () => {
    if (waitForBorrowers) await hold.borrowersGone()
    stopping = true
    server.interrupt()
    await gone
  }
  return {
    connection: connectionTo(setup.site),
    ended: unless(() => stopping, gone),
    stop,
  }
}

/** Resolves with `end`; never if it was `expected`. */
function unless(expected: () => boolean, end: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    end.then(() => {
      if (!expected()) resolve()
    })
  })
}

async function startOn(setup: Prepared, hold: Hold, log: (message: string) => void): Promise<Guarded> {
  try {
    // Read again: the previous holder may have created the database meanwhile.
    const site = await inspectSite(setup.site.folder)
    refuseOtherVersion(site, setup.major)
    await clearLeftover(site)
    const { owner } = setup.account
    if (!site.version) await createDatabase(setup)
    else if (owner && owner.uid !== site.owner?.uid) await takeOwnership(site.folder, owner)
    return await startServer({ ...setup, log })
  } catch (error) {
    await hold.release()
    throw error
  }
}

function refuseOtherVersion({ folder, version }: Site, major: string): void {
  if (version === undefined || version === major) return
  throw new EmbeddedDatabaseError(
    `database folder ${folder} was written by PostgreSQL ${version}, and the embedded one is ${major}: move its data with pg_dump of version ${version}, or set another PARLEY_DATA_DIR`,
  )
}

function socketOwner({ account }: Setup): Owner {
  return account.owner ?? { uid: process.geteuid?.() ?? 0, gid: process.getegid?.() ?? 0 }
}

function connectionTo({ socketFolder }: Site): EmbeddedDatabase['connection'] {
  return { host: socketFolder, port: PORT, user: NAME, database: NAME }
}
