import { randomBytes } from 'node:crypto'
import { type InstanceWebhook, setInstanceWebhook } from '../../../src/core/instances/manage/webhook.js'
import { newId } from '../../../src/lib/bytes/id.js'
import type { InstanceWebhookFields } from '../../../src/model/instances/gateway-webhook.js'
import type { Instance, InstanceKind } from '../../../src/model/instances/instance.js'
import { insertInstance } from '../../../src/storage/instances/instances.js'
import { type Receiver, startReceiver } from '../../support/receiver.js'
import type { TestOrganization, World } from '../../support/world.js'

/** A receiver that is set as the webhook of an instance. */
export interface InstanceEndpoint extends Receiver {
  id: string
  secret: string
  instance: Instance
  /** The events that came, in their order. */
  names(): string[]
  /** Sets the webhook again: with these fields, the others as at the beginning. */
  set(fields?: Partial<InstanceWebhookFields>): Promise<InstanceWebhook>
}

const started: Receiver[] = []
let made = 0

/** Inserts an instance's row; of the organization's own number, where nothing else is said. */
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

/** What a webhook is set with where nothing is said. */
export const PLAIN = { enabled: true, events: [], headers: {}, byEvents: false, base64: false }

/** Starts a receiver and sets it as the webhook of an instance; of a new one, where none is given. */
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
    setInstanceWebhook(world.app.ctx, organization.id, instance, { ...PLAIN, url: receiver.url, ...changed }, newId())
  const { webhook, secret } = await set(fields)
  const names = () => receiver.received.map(({ body }) => body.event)
  return Object.assign(receiver, { id: webhook.id, secret: secret as string, instance, names, set })
}

/** Closes every receiver that was started. */
export async function closeInstanceEndpoints(): Promise<void> {
  await Promise.all(started.splice(0).map((receiver) => receiver.close()))
}
