import type { Command } from 'commander'
import { findOrganizationByName } from '../../core/organizations/organizations.js'
import { requestTemplateSync, syncTemplatesOf } from '../../core/templates/sync.js'
import { listTemplates } from '../../core/templates/templates.js'
import { presentTemplate } from '../../model/templates/template.js'
import { createUpstreamClient } from '../../upstream/client.js'
import type { Invocation } from '../invocation.js'
import { asOperator, ORGANIZATION, withCredentials } from '../operator.js'
import { printDone, printFields, printList } from '../output.js'

interface Options {
  org: string
  json?: boolean
}

/** `parley templates …`: the templates of an organization. */
export function addTemplateCommands(program: Command, invocation: Invocation): void {
  const templates = program.command('templates').description('list and fetch message templates')
  templates
    .command('list')
    .description('list the known templates')
    .requiredOption('--org <org>', ORGANIZATION)
    .option('--json', 'print JSON')
    .action((options) => list(invocation, options))
  templates
    .command('sync')
    .description('fetch the templates from the upstream now; the service does so every hour')
    .requiredOption('--org <org>', ORGANIZATION)
    .option('--json', 'print JSON')
    .action((options) => sync(invocation, options))
}

async function list({ env, streams }: Invocation, options: Options): Promise<void> {
  const templates = await asOperator(env, async (ctx) => {
    const organization = await findOrganizationByName(ctx, options.org)
    return listTemplates(ctx, organization.id)
  })
  printList(streams, templates.map(presentTemplate), options, ({ name, language, status, category }) => {
    return { name, language, status, category }
  })
}

async function sync({ env, streams }: Invocation, options: Options): Promise<void> {
  await withCredentials(env, async (operator, { upstreamUrl, upstreamTimeoutMs }) => {
    const organization = await findOrganizationByName(operator, options.org)
    if (upstreamUrl === 'sandbox') {
      // Only the service that started the simulator knows its address.
      await requestTemplateSync(operator, organization.id)
      return printDone(streams, `The service fetches the templates of ${organization.name} while it runs`, options)
    }
    const upstream = createUpstreamClient(upstreamUrl)
    const ctx = { ...operator, upstream, upstreamTimeoutMs }
    const { syncedAt, ...counts } = await syncTemplatesOf(ctx, organization.id).finally(() => upstream.close())
    printFields(streams, { ...counts, synced_at: syncedAt }, options)
  })
}
