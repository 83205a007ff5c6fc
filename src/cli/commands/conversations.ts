import type { Command } from 'commander'
import { createContactLookup, findContact } from '../../core/contacts/contacts.js'
import type { ExportFormat } from '../../core/contacts/export.js'
import { exportConversation } from '../../core/conversations/export.js'
import { findOrganizationByName } from '../../core/organizations/organizations.js'
import { formatOption, writeDocument } from '../export-file.js'
import type { Invocation } from '../invocation.js'
import { ORGANIZATION, withMediaLinks } from '../operator.js'

interface ExportCommandOptions {
  org: string
  contact: string
  format: ExportFormat
  output?: string
}

/** `parley conversations …`: exports the conversations of an organization. */
export function addConversationCommands(program: Command, invocation: Invocation): void {
  const conversations = program.command('conversations').description('export conversations')
  conversations
    .command('export')
    .description('export the conversation with a contact, oldest message first')
    .requiredOption('--org <org>', ORGANIZATION)
    .requiredOption('--contact <number>', "the contact's phone number in any form (required)")
    .addOption(formatOption())
    .option('--output <file>', 'file to write (default: standard output)')
    .action((options) => exportFile(invocation, options))
}

async function exportFile(
  { env, streams }: Invocation,
  { org, contact: chatNumber, format, output }: ExportCommandOptions,
): Promise<void> {
  await withMediaLinks(env, async (operator) => {
    const ctx = { ...operator, lookUp: { contact: createContactLookup(operator.database) } }
    const organization = await findOrganizationByName(ctx, org)
    const contact = await findContact(ctx, organization, { chatNumber }, 'query')
    await writeDocument(streams, exportConversation(ctx, organization, contact, format), output)
  })
}
