import { type Command, Option } from 'commander'
import { exportContacts } from '../../core/contacts/export.js'
import { type ImportOptions, importContacts } from '../../core/contacts/import.js'
import { exportFile, formatOption } from '../export-file.js'
import { IMPORT_HELP, importFile } from '../import-file.js'
import type { Invocation } from '../invocation.js'
import { ORGANIZATION } from '../operator.js'

interface ImportCommandOptions extends ImportOptions {
  org: string
  json?: boolean
}

/** `parley contacts …`: imports and exports the contacts of an organization. */
export function addContactCommands(program: Command, invocation: Invocation): void {
  const contacts = program.command('contacts').description('import and export contacts')
  contacts
    .command('import <file>')
    .description('import contacts from a CSV file (- for standard input)')
    .requiredOption('--org <org>', ORGANIZATION)
    .addOption(
      new Option('--existing <what>', 'what to do with existing contacts; update ignores empty cells')
        .choices(['update', 'skip'])
        .default('update'),
    )
    .option('--json', 'print the result of every row as JSON')
    .addHelpText('after', IMPORT_HELP)
    .action((file, options) => importInto(invocation, file, options))
  contacts
    .command('export')
    .description('export all contacts')
    .requiredOption('--org <org>', ORGANIZATION)
    .addOption(formatOption())
    .option('--output <file>', 'file to write (default: standard output)')
    .action((options) => exportFile(invocation, options, exportContacts))
}

function importInto(invocation: Invocation, file: string, options: ImportCommandOptions): Promise<void> {
  return importFile(invocation, file, options, (ctx, organization, path, report) =>
    importContacts(ctx, organization, path, { ...options, report }),
  )
}
