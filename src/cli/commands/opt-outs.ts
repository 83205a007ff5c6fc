import type { Command } from 'commander'
import { Type } from 'typebox'
import { exportOptOuts } from '../../core/contacts/export-opt-outs.js'
import { importOptOuts } from '../../core/contacts/import-opt-outs.js'
import { listOptOuts } from '../../core/contacts/opt-outs.js'
import { findOrganizationByName } from '../../core/organizations/organizations.js'
import { presentOptOut } from '../../model/contacts/opt-out.js'
import { exportFile, formatOption } from '../export-file.js'
import { IMPORT_HELP, importFile } from '../import-file.js'
import { readOptions, toNumber } from '../input.js'
import type { Invocation } from '../invocation.js'
import { asOperator, ORGANIZATION } from '../operator.js'
import { printList } from '../output.js'

interface ListOptions {
  org: string
  page: string
  limit: string
  json?: boolean
}

const Page = Type.Object({
  page: Type.Integer({ minimum: 1, maximum: 10_000_000 }),
  limit: Type.Integer({ minimum: 1, maximum: 1_000 }),
})

/** `parley opt-outs …`: contacts that have opted out of broadcasts. */
export function addOptOutCommands(program: Command, invocation: Invocation): void {
  const optOuts = program
    .command('opt-outs')
    .description('list, import and export contacts that opted out of broadcasts')
  optOuts
    .command('list')
    .description('list the opt-outs, newest first')
    .requiredOption('--org <org>', ORGANIZATION)
    .option('--page <number>', 'page number', '1')
    .option('--limit <count>', 'opt-outs per page', '100')
    .option('--json', 'print JSON')
    .action((options) => list(invocation, options))
  optOuts
    .command('import <file>')
    .description('import opt-outs from a CSV file (- for standard input)')
    .requiredOption('--org <org>', ORGANIZATION)
    .option('--json', 'print the result of every row as JSON')
    .addHelpText('after', IMPORT_HELP)
    .action((file, options) => importFile(invocation, file, options, importOptOuts))
  optOuts
    .command('export')
    .description('export all opt-outs')
    .requiredOption('--org <org>', ORGANIZATION)
    .addOption(formatOption())
    .option('--output <file>', 'file to write (default: standard output)')
    .action((options) => exportFile(invocation, options, exportOptOuts))
}

async function list({ env, streams }: Invocation, options: ListOptions): Promise<void> {
  const given = { page: toNumber(options.page), limit: toNumber(options.limit) }
  const wanted = readOptions(Page, given, (input) => input)
  const { contacts } = await asOperator(env, async (ctx) =>
    listOptOuts(ctx, await findOrganizationByName(ctx, options.org), wanted),
  )
  printList(streams, contacts.map(presentOptOut), options)
}
