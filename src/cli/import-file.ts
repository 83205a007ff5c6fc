import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { OperatorContext } from '../context.js'
import type { ImportResult, ImportSummary } from '../core/contacts/import-file.js'
import { importWithReport, type ReportingImport } from '../core/contacts/import-report.js'
import { withUpload } from '../core/contacts/receive-import.js'
import { findOrganizationByName } from '../core/organizations/organizations.js'
import { createSpool, type Spool } from '../lib/files/spool.js'
import type { DoubtfulNumber } from '../model/contacts/written-number.js'
import type { Organization } from '../model/organizations/organization.js'
import { writeDocument } from './export-file.js'
import { CliFailure } from './failure.js'
import type { Invocation, Streams } from './invocation.js'
import { asOperator } from './operator.js'
import { inOneLine, printFields } from './output.js'

/** The part of every import's help about output and exit codes. */
export const IMPORT_HELP =
  '\nPrints the counts, the first 1,000 failed rows, and each number whose country is in doubt. The exit code is 1 if a row failed; all other rows are imported.'

/** As many as `failures` of the API's answer has. */
const MAX_PRINTED = 1_000

/** Imports the file at `path`. */
export type ImportVerb = (
  ctx: OperatorContext,
  organization: Organization,
  path: string,
  ...report: Parameters<ReportingImport>
) => ReturnType<ReportingImport>

/**
 * Imports a file, or standard input for `-`, and prints the counts and each failed row; with `json` the result of every
 * row. Throws a CliFailure with code 1 if a row failed.
 */
export async function importFile(
  { env, streams }: Invocation,
  file: string,
  { org, json }: { org: string; json?: boolean },
  importInto: ImportVerb,
): Promise<void> {
  const source = await openFile(streams, file)
  const { total, failed } = await asOperator(env, async (ctx, { dataDir }) => {
    const spool = createSpool(join(dataDir, 'spool'))
    const organization = await findOrganizationByName(ctx, org)
    return withUpload({ spool }, source, ({ path }) => {
      const work: ReportingImport = (report) => importInto(ctx, organization, path, report)
      return json ? importPrintingJson({ spool }, streams, work) : importPrintingFailures(streams, work)
    })
  }).finally(() => source.destroy())
  if (failed > 0) throw new CliFailure(1, `${failed} of ${total} rows failed`)
}

async function openFile({ stdin }: Streams, file: string): Promise<Readable> {
  if (file === '-') return Readable.from(stdin)
  const stream = createReadStream(file)
  try {
    await once(stream, 'open')
    if ((await stat(file)).isDirectory()) throw new Error('it is a directory')
    return stream
  } catch (error) {
    stream.destroy()
    throw new CliFailure(1, `${file} cannot be read: ${(error as Error).message}`)
  }
}

async function importPrintingJson(
  ctx: { spool: Spool },
  streams: Streams,
  work: ReportingImport,
): Promise<ImportSummary> {
  const { kept, whole } = await importWithReport(ctx, work)
  await writeDocument(streams, whole, undefined)
  streams.stdout.write('\n')
  return kept.summary
}

async function importPrintingFailures(streams: Streams, work: ReportingImport): Promise<ImportSummary> {
  let printed = 0
  const { summary, warnings } = await work(async (results) => {
    for (const result of results) {
      if (result.status === 'failed') {
        if (++printed <= MAX_PRINTED) streams.stdout.write(describeFailure(result))
      } else if (result.doubt) streams.stdout.write(describeDoubt(result.row, result.doubt))
    }
  })
  const rest = summary.failed - MAX_PRINTED
  if (rest > 0) streams.stdout.write(`and ${rest} more: --json prints every failed row\n`)
  for (const warning of warnings) streams.stdout.write(`${inOneLine(warning)}\n`)
  printFields(streams, summary, {})
  return summary
}

function describeDoubt(row: number, { given, read_as, or }: DoubtfulNumber): string {
  return `row ${row}: ${inOneLine(given)} was read as ${read_as}${or === null ? '' : `; it can be ${or} as well`}\n`
}

function describeFailure({ row, error, message = '', value = '' }: ImportResult): string {
  const given = message.includes(value) ? '' : `: "${value}"`
  return `row ${row}: ${inOneLine(`${error}: ${message}${given}`)}\n`
}
