import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { type Command, Option } from 'commander'
import type { Context, OperatorContext } from '../context.js'
import { type ExportFormat, exportContacts } from '../core/contacts/export.js'
import { type ImportOptions, type ImportResult, type ImportSummary, importContacts } from '../core/contacts/import.js'
import { importWithReport } from '../core/contacts/import-report.js'
import { withUpload } from '../core/contacts/receive-import.js'
import { findOrganizationByName } from '../core/organizations.js'
import { createSpool } from '../lib/spool.js'
import type { Organization } from '../model/organization.js'
import { formatOption, writeDocument } from './export-file.js'
import { CliFailure } from './failure.js'
import type { Invocation, Streams } from './invocation.js'
import { asOperator } from './operator.js'
import { inOneLine, printFields } from './output.js'

interface ImportCommandOptions extends ImportOptions {
  org: string
  json?: boolean
}

interface ExportCommandOptions {
  org: string
  format: ExportFormat
  output?: string
}

type ImportContext = OperatorContext & Pick<Context, 'spool'>

const ORGANIZATION = 'of which organization: its id or slug'

/** `parley contacts …`: the contacts of an organization, from a file and into one. */
export function addContactCommands(program: Command, invocation: Invocation): void {
  const contacts = program.command('contacts').description("organizations' contacts")
  contacts
    .command('import <file>')
    .description('import contacts from a CSV file; - = standard input')
    .requiredOption('--org <org>', ORGANIZATION)
    .addOption(
      new Option('--existing <what>', 'contacts that are there: update = with the cells that are not empty')
        .choices(['update', 'skip'])
        .default('update'),
    )
    .option('--json', 'print what became of every row, as JSON')
    .addHelpText(
      'after',
      '\nPrints the counts and each failed row. Ends with 1 when a row failed; all others are imported.',
    )
    .action((file, options) => importFile(invocation, file, options))
  contacts
    .command('export')
    .description('export all contacts')
    .requiredOption('--org <org>', ORGANIZATION)
    .addOption(formatOption())
    .option('--output <file>', 'where to; standard output if not given')
    .action((options) => exportFile(invocation, options))
}

async function importFile({ env, streams }: Invocation, file: string, options: ImportCommandOptions): Promise<void> {
  const source = await openFile(streams, file)
  const { total, failed } = await asOperator(env, async (operator, { dataDir }) => {
    const ctx = { ...operator, spool: createSpool(join(dataDir, 'spool')) }
    const organization = await findOrganizationByName(ctx, options.org)
    const importUpload = options.json ? importPrintingJson : importPrintingFailures
    return withUpload(ctx, source, ({ path }) => importUpload(ctx, streams, organization, path, options))
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
  ctx: ImportContext,
  streams: Streams,
  organization: Organization,
  path: string,
  options: ImportOptions,
): Promise<ImportSummary> {
  const { kept, whole } = await importWithReport(ctx, organization, path, options)
  await writeDocument(streams, whole, undefined)
  streams.stdout.write('\n')
  return kept.summary
}

async function importPrintingFailures(
  ctx: ImportContext,
  streams: Streams,
  organization: Organization,
  path: string,
  options: ImportOptions,
): Promise<ImportSummary> {
  const summary = await importContacts(ctx, organization, path, options, async (results) => {
    for (const result of results) if (result.status === 'failed') streams.stdout.write(describeFailure(result))
  })
  printFields(streams, summary, {})
  return summary
}

function describeFailure({ row, error, message }: ImportResult): string {
  return `row ${row}: ${inOneLine(`${error}: ${message}`)}\n`
}

async function exportFile({ env, streams }: Invocation, { org, format, output }: ExportCommandOptions): Promise<void> {
  await asOperator(env, async (ctx) => {
    const organization = await findOrganizationByName(ctx, org)
    await writeDocument(streams, exportContacts(ctx, organization, format), output)
  })
}
