import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { packageRoot } from '../../lib/files/package-root.js'

/** A file of migrations/. */
export interface Migration {
  version: number
  /** Such as 0001_schema. */
  name: string
  text: string
  /** False: its statements run one by one, and each may be repeated. */
  isTransaction: boolean
  /** The first version of Parley, such as 1.1, that does not need what the migration removes; null: it only adds. */
  contractAfter: string | null
}

const NO_TRANSACTION = /^-- no transaction$/m
const CONTRACT = /^-- contract after (\d+\.\d+)$/m

let read: Promise<Migration[]> | undefined

/** The migrations of this version, in order. Read once. */
export function listMigrations(): Promise<Migration[]> {
  read ??= readMigrations(join(packageRoot(), 'migrations'))
  return read
}

/** The migrations in a folder, in order. */
export async function readMigrations(folder: string): Promise<Migration[]> {
  const files = (await readdir(folder)).filter((file) => /^\d{4}_\w+\.sql$/.test(file)).sort()
  return Promise.all(files.map(async (file) => parse(file, await readFile(join(folder, file), 'utf8'))))
}

function parse(file: string, text: string): Migration {
  return {
    version: Number(file.slice(0, 4)),
    name: file.replace('.sql', ''),
    text,
    isTransaction: !NO_TRANSACTION.test(text),
    contractAfter: CONTRACT.exec(text)?.[1] ?? null,
  }
}

/** Whether a version of Parley, such as 1.1.0, is older than another one; the last part does not count. */
export function isOlder(version: string, than: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [otherMajor = 0, otherMinor = 0] = than.split('.').map(Number)
  return major < otherMajor || (major === otherMajor && minor < otherMinor)
}
