import type { Command } from 'commander'
import { startPruning } from '../../core/maintenance/maintenance.js'
import { type PreviewedKind, previewRetention } from '../../core/maintenance/retention-preview.js'
import { findOrganizationByName, listOrganizations } from '../../core/organizations/organizations.js'
import { PreviewRetention, readRetentionDays } from '../../model/organizations/operator-input.js'
import { CliFailure } from '../failure.js'
import { readOptions, toDays, toNumber } from '../input.js'
import type { Invocation } from '../invocation.js'
import { asOperator } from '../operator.js'
import { printDone, printList, printNote } from '../output.js'

interface PreviewOptions {
  all?: boolean
  json?: boolean
  retention?: string
  messageRetention?: string
  mediaRetention?: string
}

/** `parley retention …`: what the days that organizations keep data mean. */
export function addRetentionCommands(program: Command, invocation: Invocation): void {
  const retention = program
    .command('retention')
    .description('look at what is deleted because of its age, and delete it')
  retention
    .command('preview')
    .argument('[org]', 'id or slug of an organization')
    .description('show what would be deleted now, with the days that are set or with others')
    .option('--all', 'of all organizations')
    .option('--retention <days>', 'as if callbacks, events and deliveries were kept so many days')
    .option('--message-retention <days>', 'as if messages were kept so many days, or off')
    .option('--media-retention <days>', 'as if files were kept so many days, or off')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nReads only. Sizes are estimated; of very many rows it shows that there are at least so many.',
    )
    .action((org, options) => preview(invocation, org, options))
  retention
    .command('run')
    .description('have the workers delete now what they delete once a day, of all organizations')
    .option('--json', 'print JSON')
    .action((options) => run(invocation, options))
}

async function run({ env, streams }: Invocation, options: { json?: boolean }): Promise<void> {
  const begun = await asOperator(env, startPruning)
  if (begun === null) throw new CliFailure(1, 'No worker has run on this database yet: start one')
  printDone(
    streams,
    begun
      ? 'The workers begin to delete now, in small batches: parley retention preview shows what is left'
      : 'The workers are deleting already: parley retention preview shows what is left',
    options,
  )
}

type Previewed = PreviewedKind & { organization: string; legal_hold: boolean }

async function preview({ env, streams }: Invocation, name: string | undefined, options: PreviewOptions): Promise<void> {
  if ((name === undefined) !== (options.all === true)) throw new CliFailure(2, 'Name an organization, or give --all')
  const given = {
    retention_days: toNumber(options.retention),
    message_retention_days: toDays(options.messageRetention),
    media_retention_days: toDays(options.mediaRetention),
  }
  const days = readOptions(PreviewRetention, given, readRetentionDays)
  const previewed = await asOperator(env, async (ctx) => {
    const organizations = name === undefined ? await listOrganizations(ctx) : [await findOrganizationByName(ctx, name)]
    const found: Previewed[] = []
    for (const organization of organizations) {
      const { slug, legal_hold } = organization
      const kinds = await previewRetention(ctx, organization, days)
      found.push(...kinds.map((kind) => ({ organization: slug, legal_hold: legal_hold !== null, ...kind })))
    }
    return found
  })
  printList(streams, previewed, options, ({ organization, kind, days, rows, rows_are, bytes, oldest }) => ({
    organization,
    kind,
    days: days ?? 'off',
    rows: rows_are === 'exact' ? rows : `at least ${rows}`,
    bytes: rows === 0 ? 0 : `about ${bytes}`,
    oldest,
  }))
  const held = [...new Set(previewed.filter(({ legal_hold }) => legal_hold).map(({ organization }) => organization))]
  for (const slug of held) printNote(streams, `A legal hold is on "${slug}": nothing of it is deleted`)
}
