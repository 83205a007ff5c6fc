import { newId } from '../../../src/lib/bytes/id.js'
import type { Noise, NoiseKind } from '../noise.js'
import { createTenant, deleteTenant, postChange, type Stage, type Tenant, untilTrue } from '../stage.js'

const CHUNKS = 40
const THREADS = 50
const MESSAGES_PER_THREAD = 10
const DAY_S = 86_400

/** The history of a phone, which comes all at once. */
export const historyNoises: readonly NoiseKind[] = [
  {
    name: 'phone-history',
    title: '40 callbacks with 500 messages each of the history of a phone',
    work: null,
    start,
  },
]

async function start(stage: Stage): Promise<Noise> {
  const tenant = await createTenant(stage, 'Noisy')
  for (let chunk = 0; chunk < CHUNKS; chunk++) await postChange(stage, tenant, 'history', chunkOf(chunk))
  await untilTrue('no history waited', async () => (await countChunks(stage, tenant)) > 0)
  return { remaining: () => countChunks(stage, tenant), stop: () => deleteTenant(stage, tenant) }
}

/** The same people in each chunk, from the oldest chunk to the newest: then most messages make room for others. */
function chunkOf(chunk: number): object {
  const newest = Math.floor(Date.now() / 1_000) - (CHUNKS - chunk) * DAY_S
  const threads = Array.from({ length: THREADS }, (_, person) => {
    const from = `55229${60_000_000 + person}`
    const messages = Array.from({ length: MESSAGES_PER_THREAD }, (_, n) => ({
      ...{
        from,
        id: `wamid.${newId()}`,
        timestamp: String(newest - n),
        type: 'text',
        text: { body: 'Is it still there?' },
      },
      history_context: { status: 'READ' },
    }))
    return { id: from, messages }
  })
  const progress = Math.floor((100 * (chunk + 1)) / CHUNKS)
  return { history: [{ metadata: { phase: 2, chunk_order: chunk + 1, progress }, threads }] }
}

async function countChunks({ database }: Stage, { id }: Tenant): Promise<number> {
  const { rows } = await database.query(
    'SELECT count(*)::int AS count FROM phone_history_chunks WHERE organization_id = $1',
    [id],
  )
  return rows[0].count
}
