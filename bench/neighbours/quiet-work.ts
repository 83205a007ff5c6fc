import type { JobClassName } from '../../src/model/jobs.js'
import { countJobs, type Stage, signInOwner, succeed, type Tenant, untilTrue } from './stage.js'
import { voiceNote } from './voice-note.js'

/** Kinds of work of one organization. Each resolves when the work is completed, and throws if anything fails. */
export const QUIET_WORK = {
  broadcast: sendBroadcast,
  scheduled: sendScheduled,
  erasure: eraseContact,
  import: importContacts,
  'sign-in': signIn,
  conversion: sendVoiceNote,
  sync: syncOrders,
} as const satisfies Record<string, (stage: Stage, tenant: Tenant) => Promise<void>>

export type QuietWork = keyof typeof QUIET_WORK

const NUMBERS = ['5511987650107', '5511987650207', '5511987650307']

/** A template that every account at the simulator has. */
export const TEMPLATE = { templateName: 'hello_world', language: 'en_US' }

async function sendBroadcast({ url }: Stage, { key }: Tenant): Promise<void> {
  await succeed('POST', `${url}/templates/sync`, { key })
  const recipients = NUMBERS.map((chatNumber) => ({ chatNumber }))
  const body = { name: 'Opening hours', ...TEMPLATE, audience: { recipients } }
  const { id } = (await succeed('POST', `${url}/broadcasts`, { key, body })).body.broadcast
  await untilTrue('the broadcast had not been completed', async () => {
    const { broadcast } = (await succeed('GET', `${url}/broadcasts/${id}`, { key })).body
    return broadcast.status === 'completed'
  })
}

async function sendScheduled(stage: Stage, tenant: Tenant): Promise<void> {
  const [number] = NUMBERS
  const { key } = tenant
  await succeed('POST', `${stage.url}/contact`, { key, body: { phone_number: number } })
  const body = { phone_number: number, message_type: 'text', text: 'Open now', scheduled_at: new Date().toISOString() }
  await succeed('POST', `${stage.url}/send-chat`, { key, body })
  await untilNoJobs(stage, tenant, 'scheduled')
  await succeed('DELETE', `${stage.url}/contact?phone_number=${number}`, { key })
}

async function eraseContact(stage: Stage, tenant: Tenant): Promise<void> {
  const [number] = NUMBERS
  const { key } = tenant
  await succeed('POST', `${stage.url}/contact`, { key, body: { phone_number: number } })
  await succeed('DELETE', `${stage.url}/contact?phone_number=${number}`, { key })
  await untilNoJobs(stage, tenant, 'erasure')
}

async function importContacts({ url }: Stage, { key }: Tenant): Promise<void> {
  const body = ['phone_number', ...NUMBERS].join('\n')
  const headers = { 'content-type': 'text/csv' }
  const { summary } = (await succeed('POST', `${url}/contacts/import`, { key, body, headers })).body
  if (summary.total !== NUMBERS.length || summary.failed > 0) throw new Error(`import: ${JSON.stringify(summary)}`)
}

/** Signs in twice: from an unknown device, and from the device that the first sign-in made known. */
async function signIn(stage: Stage, tenant: Tenant): Promise<void> {
  const { credentials: body, cookie } = await signInOwner(stage, tenant)
  await succeed('POST', `${stage.url}/console/api/session`, { body, headers: { cookie } })
}

async function sendVoiceNote({ url }: Stage, { key }: Tenant): Promise<void> {
  await succeed('POST', `${url}/gateway/instance/create`, {
    key,
    body: { instanceName: 'quiet', integration: 'WHATSAPP-BUSINESS' },
  })
  const body = { number: NUMBERS[0], audio: voiceNote(1), encoding: true }
  await succeed('POST', `${url}/gateway/message/sendWhatsAppAudio/quiet`, { key, body })
}

async function syncOrders(stage: Stage, tenant: Tenant): Promise<void> {
  const { url, adminToken: key, sandboxUrl } = stage
  const body = { url: `${sandboxUrl}/shop`, access_token: 'token', webhook_secret: 'secret' }
  await succeed('PUT', `${url}/admin/organizations/${tenant.id}/storefront`, { key, body })
  await untilNoJobs(stage, tenant, 'sync')
}

function untilNoJobs(stage: Stage, tenant: Tenant, jobClass: JobClassName): Promise<void> {
  const isDone = async () => (await countJobs(stage, tenant, jobClass)) === 0
  return untilTrue(`the ${jobClass} jobs had not been done`, isDone)
}
