import type { ArchiveKind } from '../backup/archive.js'

// The export of an organization: a tar file of a manifest, files, rows and a seal.

/** The first member. */
export interface Manifest {
  /** Of this form of archive. */
  format: 1
  /** The version of Parley. */
  parley: string
  /** The migrations that the database had. */
  migrations: number[]
  organization: { id: string; slug: string }
  /** The moment of the export, ISO 8601. */
  exportedAt: string
  /** The key under which the secrets are encrypted. */
  key: string
  /** The newest number of an event in that cell. */
  eventNumber: number
}

/** What the last member says. */
export interface MovedHead {
  format: 1
  organization: { id: string; slug: string }
  exportedAt: string
  files: number
  /** The number of rows of each table. */
  rows: Record<string, number>
}

export const MANIFEST = 'manifest.json'
/** `rows/<table>/<n>`: rows in the text format of COPY. */
export const ROWS = /^rows\/([a-z_]+)\/\d+$/
/** `media/<id>` */
export const FILE = /^media\/([0-9a-f-]{36})$/

export const EXPORT: ArchiveKind = {
  name: 'export',
  seal: 'organization.json',
  members: new RegExp(`${ROWS.source}|${FILE.source}|^manifest\\.json$`),
}
