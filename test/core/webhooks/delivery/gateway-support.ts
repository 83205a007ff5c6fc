import { randomBytes } from 'node:crypto'
import { type InstanceWebhook, setInstanceWebhook } from '../../../../src/core/instances/manage/webhook.js'
import { newId } from '../../../../src/lib/bytes/id.js'
import type { InstanceWebhookFields } from '../../../../src/model/instances/gateway-webhook.js'
import type { Instance, InstanceKind } from '../../../../src/model/instances/instance.js'
import { insertInstance } from '../../../../src/storage/instances/instances.js'
import { type Receiver, startReceiver } from '../../../support/receiver.js'
import type { TestOrganization, World } from '../../../support/world.js'

/** A receiver registered as the webhook of an instance. */
export interface InstanceEndpoint extends Receiver {
  id: string
  secret: string
  instance: Instance
  /** The received events, in order. */
  names(): string[]
  /** Sets the webhook again with these fields; the others are the initial ones. */
  set(fields?: Partial<InstanceWebhookFields>): Promise<InstanceWebhook>
}

const started: Receiver[] = []
let made = 0

/** Inserts an instance's row; by default, of the organization's own number. */
export async function makeInstance(
  { app, database }: World,
  { id: organizationId }: TestOrganization,
  { kind = 'business_api', name = `shop-${++made}` }: { kind?: InstanceKind; name?: string } = {},
): Promise<Instance> {
  const token = randomBytes(16).toString('hex')
  const instance = await insertInstance(database, organizationId, {
    id: newId(),
    name,
    kind,
    state: 'open',
    token: app.ctx.secrets.seal(token, `${organizationId}:instance.token`),
    token_hash: randomBytes(32),
    number: null,
    owner: '5511900000000',
    phone_number_id: null,
    business_account_id: null,
    access_token: null,
    app_secret: null,
    verify_token_hash: null,
    settings: {},
  })
  if (instance === null) throw new Error(`there is an instance ${name} already`)
  return instance
}

/** The default fields of a webhook. */
export const PLAIN = { enabled: true, events: [], headers: {}, byEvents: false, base64: false }

/** Starts a receiver and registers it as the webhook of an instance, by default of a new one. */
export async function startInstanceEndpoint(
  world: World,
  organization: TestOrganization,
  fields: Partial<InstanceWebhookFields> = {},
  given?: Instance,
): Promise<InstanceEndpoint> {
  const instance = given ?? (await makeInstance(world, organization))
  const receiver = await startReceiver()
  started.push(receiver)
  const set = (changed: Partial<InstanceWebhookFields> = {}) =>
    setInstanceWebhook(world.app.ctx, instance, { ...PLAIN, url: receiver.url, ...changed, id: newId() })
  const { webhook, secret } = await set(fields)
  const names = () => receiver.received.map(({ body }) => body.event)
  return Object.assign(receiver, { id: webhook.id, secret: secret as string, instance, names, set })
}

/** Closes all receivers. */
export async function closeInstanceEndpoints(): Promise<void> {
  await Promise.all(started.splice(0).map((receiver) => receiver.close()))
}
