import { type Command, Option } from 'commander'
import { Type } from 'typebox'
import { findOrganizationByName } from '../../core/organizations/organizations.js'
import { listWebhooks } from '../../core/webhooks/endpoints.js'
import { findLastAttempts, listDeliveries } from '../../core/webhooks/log.js'
import {
  type AttemptRow,
  DELIVERY_STATUSES,
  type DeliveryStatus,
  presentDelivery,
  presentWebhook,
} from '../../model/webhooks/webhook.js'
import { readOptions, toNumber } from '../input.js'
import type { Invocation } from '../invocation.js'
import { listen } from '../listen/listen.js'
import { tail } from '../listen/tail.js'
import { asOperator, ORGANIZATION } from '../operator.js'
import { printList } from '../output.js'

interface ListOptions {
  org: string
  json?: boolean
}

interface DeliveriesOptions extends ListOptions {
  webhook?: string
  status?: DeliveryStatus
  page: string
}

const PER_PAGE = 100

const Wanted = Type.Object({
  webhook: Type.Optional(Type.String({ format: 'uuid' })),
  page: Type.Integer({ minimum: 1, maximum: 10_000_000 }),
})

/** `parley webhooks …`: the endpoints to which an organization's events are delivered. */
export function addWebhookCommands(program: Command, invocation: Invocation): void {
  const webhooks = program
    .command('webhooks')
    .description('list webhooks and deliveries, and receive events while you develop')
  webhooks
    .command('list')
    .description('list the webhooks, oldest first, with what each endpoint answered last')
    .requiredOption('--org <org>', ORGANIZATION)
    .option('--json', 'print JSON')
    .action((options) => list(invocation, options))
  webhooks
    .command('deliveries')
    .description('list deliveries with their results, newest first')
    .requiredOption('--org <org>', ORGANIZATION)
    .option('--webhook <id>', 'only deliveries of this webhook')
    .addOption(new Option('--status <status>', 'only deliveries with this status').choices([...DELIVERY_STATUSES]))
    .option('--page <page>', `page number; ${PER_PAGE} deliveries per page`, '1')
    .option('--json', 'print JSON, with all attempts')
    .action((options) => deliveries(invocation, options))
  webhooks
    .command('tail')
    .description('show delivery attempts as they are recorded, until Ctrl-C')
    .requiredOption('--org <org>', ORGANIZATION)
    .option('--webhook <id>', 'only attempts of this webhook')
    .option('--json', 'print JSON, one object per line')
    .action((options) => tail(invocation, options))
  webhooks
    .command('listen')
    .description('print events as an endpoint would get them, or forward them to a local endpoint, until Ctrl-C')
    .requiredOption('--org <org>', ORGANIZATION)
    .option('--types <types>', 'only these event types, separated by commas')
    .option(
      '--from <position>',
      'position in the feed to start at: oldest, latest, or one that was printed before',
      'latest',
    )
    .option('--forward <url>', 'post events to this URL, which may be on this machine')
    .option('--secret <secret>', 'sign with this secret (whsec_…; default: a new one)')
    .action((options) => listen(invocation, options))
}

async function list({ env, streams }: Invocation, options: ListOptions): Promise<void> {
  const [webhooks, attempts] = await asOperator(env, async (ctx) => {
    const { id } = await findOrganizationByName(ctx, options.org)
    return Promise.all([listWebhooks(ctx, id), findLastAttempts(ctx, id)])
  })
  printList(streams, webhooks.map(presentWebhook), options, ({ id, url, events, description, active, ...rest }) => {
    const last = attempts.get(id)
    const { disabled_reason, created_at } = rest
    const shown = { id, url, events, description, active, disabled_reason, created_at }
    return { ...shown, last_attempt_at: last?.at, answer: last && answerOf(last) }
  })
}

async function deliveries({ env, streams }: Invocation, options: DeliveriesOptions): Promise<void> {
  const given = { webhook: options.webhook, page: toNumber(options.page) }
  const { webhook = null, page } = readOptions(Wanted, given, (input) => input)
  const wanted = { webhookId: webhook, status: options.status ?? null, page, limit: PER_PAGE }
  const found = await asOperator(env, async (ctx) => {
    const { id } = await findOrganizationByName(ctx, options.org)
    return listDeliveries(ctx, id, wanted)
  })
  printList(streams, found.deliveries.map(presentDelivery), options, (delivery) => {
    const { id, created_at, event_type, webhook_id, status, attempts, next_attempt_at } = delivery
    const last = attempts.at(-1)
    const answer = last && answerOf(last)
    return { id, created_at, event: event_type, webhook_id, status, attempts: attempts.length, answer, next_attempt_at }
  })
}

function answerOf({ error, response_status }: Pick<AttemptRow, 'error' | 'response_status'>) {
  return error ?? response_status
}
