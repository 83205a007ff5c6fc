import type { Amounts, Noise, NoiseKind } from '../noise.js'
import { askForEach } from '../requests.js'
import { ask, countJobs, createTenant, deleteTenant, type Stage, succeed } from '../stage.js'

const WIDTH = 8
const CSV = { 'content-type': 'text/csv' }

/** Many messages whose time has come at once. */
export const scheduledNoises: readonly NoiseKind[] = [
  {
    name: 'scheduled',
    title: 'messages scheduled for the same moment, on a number with 1 message per second',
    work: 'scheduled',
    start,
  },
]

async function start(stage: Stage, { scheduled }: Amounts): Promise<Noise> {
  const tenant = await createTenant(stage, 'Noisy', { messages_per_second: 1 })
  const { key } = tenant
  const numbers = Array.from({ length: scheduled }, (_, index) => `55319${80_000_000 + index * 10 + 7}`)
  const body = ['phone_number', ...numbers].join('\n')
  await succeed('POST', `${stage.url}/contacts/import`, { key, body, headers: CSV })
  const scheduled_at = new Date().toISOString()
  await askForEach(numbers, WIDTH, [202], (phone_number) =>
    ask('POST', `${stage.url}/send-chat`, {
      key,
      body: { phone_number, message_type: 'text', text: 'At nine', scheduled_at },
    }),
  )
  return { remaining: () => countJobs(stage, tenant, 'scheduled'), stop: () => deleteTenant(stage, tenant) }
}
