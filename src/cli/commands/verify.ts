import type { Command } from 'commander'
import { openBlobStore } from '../../blobs/open.js'
import { measureStorage } from '../../core/maintenance/maintenance.js'
import { type FoundViolation, type VerifyContext, verifyDatabase } from '../../core/maintenance/verify.js'
import { findOrganizationByName } from '../../core/organizations/organizations.js'
import { CliFailure } from '../failure.js'
import type { Invocation, Streams } from '../invocation.js'
import { asOperator } from '../operator.js'
import { printFields } from '../output.js'
import { createProgress, type Progress } from '../progress.js'

interface Options {
  organization?: string
  json?: boolean
}

/** How many violations are listed; further ones are only counted. */
const MAX_TOLD = 1_000

/** `parley verify`: compares everything that the database keeps twice. */
export function addVerifyCommand(program: Command, invocation: Invocation): void {
  program
    .command('verify')
    .description('check numbers, counts, references, files, events and results of broadcasts')
    .option('--organization <org>', 'id or slug of an organization (default: all)')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nReads only, beside a running service too. The exit code is 1 if something is wrong.')
    .action((options) => verify(invocation, options))
}

async function verify({ env, streams }: Invocation, { organization, json }: Options): Promise<void> {
  const progress = createProgress(streams, json === true)
  const report = await asOperator(env, async (ctx, config) => {
    const only = organization === undefined ? undefined : await findOrganizationByName(ctx, organization)
    if (!only) progress.expect(await estimateRows(ctx))
    const blobs = await openBlobStore(config.media, config.dataDir)
    try {
      return await verifyTold(
        { ...ctx, channelNames: config.channelNames, blobs },
        only,
        progress,
        json ? null : streams,
      )
    } finally {
      await blobs.close()
    }
  }).finally(() => progress.end())
  if (json) printFields(streams, report, { json })
  else printSummary(streams, report)
  if (report.violationCount > 0) throw new CliFailure(1, `${report.violationCount} violations were found`)
}

/** The result of `parley verify`. */
export interface VerifyReport {
  rows: number
  seconds: number
  rowsPerSecond: number
  violationCount: number
  /** The first 1,000. */
  violations: FoundViolation[]
  notes: string[]
}

/** Runs the checks and prints each violation and note as it is found; null streams: prints nothing. */
export async function verifyTold(
  ctx: VerifyContext,
  only: { id: string; slug: string } | undefined,
  progress: Progress,
  streams: Streams | null,
): Promise<VerifyReport> {
  const startedAt = performance.now()
  const violations: FoundViolation[] = []
  const notes: string[] = []
  let rows = 0
  let violationCount = 0
  const print = (line: string) => {
    if (streams === null) return
    progress.clear()
    streams.stdout.write(`${line}\n`)
  }
  await verifyDatabase(ctx, only, {
    begins: (organization, table) => progress.begin(organization === null ? table : `${organization}: ${table}`),
    read: (more) => {
      rows += more
      progress.advance(more)
    },
    violation: (violation) => {
      violationCount++
      if (violations.length === MAX_TOLD) return
      violations.push(violation)
      print(describe(violation))
    },
    note: (organization, text) => {
      notes.push(organization === null ? text : `${organization}: ${text}`)
      print(`note: ${notes.at(-1)}`)
    },
  })
  const seconds = (performance.now() - startedAt) / 1_000
  const rowsPerSecond = Math.round(rows / Math.max(seconds, 0.001))
  return { rows, seconds: Math.round(seconds * 100) / 100, rowsPerSecond, violationCount, violations, notes }
}

/** One line about the whole run. */
export function printSummary({ stdout }: Streams, report: VerifyReport): void {
  const { rows, seconds, rowsPerSecond, violationCount } = report
  const found = violationCount === 0 ? 'everything agrees' : `${violationCount} violations`
  stdout.write(`${rows} rows verified in ${seconds} s (${rowsPerSecond} rows/s): ${found}\n`)
}

function describe({ organization, kind, row, expected, found, remedy }: FoundViolation): string {
  return `${organization ?? '-'}  ${kind}  ${row}: expected ${expected}, found ${found}\n  ${remedy}`
}

/** By PostgreSQL's estimates; 0: they are unknown. */
async function estimateRows(ctx: Parameters<typeof measureStorage>[0]): Promise<number> {
  const sizes = new Map((await measureStorage(ctx)).map(({ name, rows }) => [name, rows]))
  const of = (table: string) => sizes.get(table) ?? 0
  return 3 * of('messages') + 3 * of('events') + 3 * of('contacts') + 3 * of('broadcast_recipients') + 2 * of('media')
}
