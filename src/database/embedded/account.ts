import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { EmbeddedDatabaseError } from './error.js'
import { nobody, type Owner, type Site } from './site.js'

/** The user that runs PostgreSQL's programs, and how to become it. */
export interface Account {
  /** the owner of the database's files; undefined: this process's user */
  owner: Owner | undefined
  /** for node's spawn */
  identity: { uid?: number; gid?: number }
  /** the command that changes the user and runs the rest */
  prefix: string[]
}

/** An account that works, and the major version that PostgreSQL reports. */
export interface TriedAccount {
  account: Account
  major: string
}

/**
 * Drops all rights of root except that of entering closed folders. The securebit makes access(2), with which PostgreSQL
 * looks for its programs, honour that right as open(2) does.
 */
const KEEP_ENTERING = [
  '--clear-groups',
  '--inh-caps=+dac_override',
  '--ambient-caps=+dac_override',
  '--securebits=+no_setuid_fixup',
]

const run = promisify(execFile)

/**
 * Finds the first account that can run PostgreSQL and enter the parent of the data folder. PostgreSQL refuses root, so
 * root becomes the owner of the data folder or `nobody`; or the same with the right to enter closed folders (a checkout
 * in /root); or, if no other user is available, another id in a user namespace. Throws EmbeddedDatabaseError if nothing
 * works.
 */
export async function chooseAccount(site: Site, postgres: string): Promise<TriedAccount> {
  const reasons: string[] = []
  for (const account of process.geteuid?.() === 0 ? waysDown(site) : [ourselves]) {
    const trial = await tryAccount(account, site, postgres)
    if (trial.outcome === 'works') return { account, major: trial.major }
    reasons.push(trial.reason)
  }
  throw new EmbeddedDatabaseError(
    `the embedded PostgreSQL cannot run here (${reasons.join('; ')}): ${remedy()}, or set PARLEY_DATABASE_URL to a PostgreSQL 15 or later`,
  )
}

const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** A clean environment for PostgreSQL's programs, because ours contains secrets. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  return { PATH: SYSTEM_PATH, PG_GRANDPARENT_PID: String(process.pid) }
}

const ourselves: Account = { owner: undefined, identity: {}, prefix: [] }

function waysDown(site: Site): Account[] {
  const owner = site.owner && site.owner.uid !== 0 ? site.owner : nobody
  const { uid, gid } = owner
  const stepDown = ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, ...KEEP_ENTERING]
  const namespace = ['unshare', '--user', `--map-user=${nobody.uid}`, `--map-group=${nobody.gid}`]
  return [
    { owner, identity: { uid: uid | 0, gid: gid | 0 }, prefix: [] }, // spawn wants 32 bits with a sign
    { owner, identity: {}, prefix: stepDown },
    { owner: { uid: 0, gid: 0 }, identity: {}, prefix: namespace },
  ]
}

type Trial = { outcome: 'works'; major: string } | { outcome: 'fails'; reason: string }

async function tryAccount(account: Account, site: Site, postgres: string): Promise<Trial> {
  const trial = [...account.prefix, 'sh', '-c', 'cd "$1" && "$2" --version', 'sh', site.parent, postgres]
  try {
    const { stdout } = await run('env', trial, { ...account.identity, cwd: '/', env: cleanEnvironment() })
    const major = /\d+/.exec(stdout)?.[0]
    return major ? { outcome: 'works', major } : { outcome: 'fails', reason: stdout.trim() }
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string }
    return { outcome: 'fails', reason: (stderr || message).trim().split('\n')[0] ?? '' }
  }
}

function remedy(): string {
  return process.geteuid?.() === 0 ? 'start parley as another user than root' : 'use a system with glibc or macOS'
}
