import type { TestOrganization } from '../../support/world.js'
import type { FileServer } from './file-server.js'
import { type Answer, type Service, succeed } from './service.js'
import { postSend, type Random, seeded } from './traffic.js'

export type Kind = 'text' | 'interactive' | 'interactive with image' | 'image' | 'document' | 'reaction'

/** One person who writes with one organization. */
export interface Conversation {
  organization: TestOrganization
  contactId: string
  number: string
  /** Messages that were sent and acknowledged before anything went wrong. */
  acknowledged: { text: string; upstreamId: string }[]
}

/** A send that is under way when the service dies. */
export interface HeldSend {
  kind: Kind
  conversation: Conversation
  /** Its Idempotency-Key; null for one that nobody will repeat. */
  key: string | null
  /** What stands in the upstream's record of this send alone: its text, or the id of the message that it reacts to. */
  mark: string
  body: Record<string, unknown>
}

/** What the sends of one round are made from. */
export interface PlanOptions {
  kinds: readonly Kind[]
  /** The last six digits of the people's numbers. */
  endings: readonly string[]
  /** Whether every send has an Idempotency-Key; else chance decides. */
  allKeyed: boolean
  /** How many there are at most. */
  maxSends: number
}

const EMOJI = '🎉'

/** Makes contacts of the same numbers in all organizations. `seed`: 1 to 99, each once. */
export async function makeConversations(
  service: Service,
  organizations: readonly TestOrganization[],
  endings: readonly string[],
  seed: number,
): Promise<Conversation[]> {
  const wanted = organizations.flatMap((organization) =>
    endings.map((ending) => ({ organization, number: `55119${String(seed).padStart(2, '0')}${ending}` })),
  )
  return Promise.all(
    wanted.map(async ({ organization, number }) => {
      const body = { phone_number: number }
      const made = await succeed(service.request('POST', '/contact', { key: organization.key, body }))
      const conversation = { organization, number, contactId: made.body.contact.id, acknowledged: [] }
      await sendBefore(service, conversation, `before ${seed}`)
      return conversation
    }),
  )
}

/** Draws sends over the conversations; each reaction gets a message of its own to react to. */
export async function drawSends(
  { service, files }: { service: Service; files: FileServer },
  conversations: readonly Conversation[],
  { kinds, allKeyed, maxSends }: PlanOptions,
  seed: number,
): Promise<HeldSend[]> {
  const random = seeded(seed)
  const count = 1 + Math.floor(random() * maxSends)
  const drawn = Array.from({ length: count }, (_, index) => ({
    name: `send ${seed}-${index}`,
    kind: pick(kinds, random),
    conversation: pick(conversations, random),
    keyed: allKeyed || random() < 0.6,
  }))
  return Promise.all(
    drawn.map(async ({ name, kind, conversation, keyed }) => {
      const mark = kind === 'reaction' ? await sendBefore(service, conversation, `target of ${name}`) : name
      const body = { phone_number: conversation.number, ...contentOf(kind, mark, files) }
      return { kind, conversation, key: keyed ? name : null, mark, body }
    }),
  )
}

/** Asks for a send; null when no answer came. */
export function ask(service: Service, { conversation, key, body }: HeldSend): Promise<Answer | null> {
  return postSend(service, conversation.organization.key, key, body)
}

/** Whether the message carries a file. */
export function hasFile(kind: Kind): boolean {
  return kind === 'image' || kind === 'document' || kind === 'interactive with image'
}

/** How a reaction shows on its message. */
export const shownReaction = { emoji: EMOJI, sender_type: 'bot-chat' }

/** Resolves to the upstream's id. */
async function sendBefore(service: Service, conversation: Conversation, text: string): Promise<string> {
  const body = { phone_number: conversation.number, message_type: 'text', text }
  const answer = await postSend(service, conversation.organization.key, null, body)
  if (answer?.status !== 200) throw new Error(`${text}: ${JSON.stringify(answer)}`)
  const upstreamId: string = answer.body.data.message_id
  conversation.acknowledged.push({ text, upstreamId })
  return upstreamId
}

function contentOf(kind: Kind, mark: string, files: FileServer): Record<string, unknown> {
  const frame = { type: 'button', body: mark, buttons: [{ id: 'yes', title: 'Yes' }] }
  switch (kind) {
    case 'text':
      return { message_type: 'text', text: mark }
    case 'interactive':
      return { message_type: 'interactive', interactive: frame }
    case 'interactive with image':
      return {
        message_type: 'interactive',
        interactive: { ...frame, header_media: { type: 'image', url: files.photoUrl } },
      }
    case 'image':
      return { message_type: 'image', media_url: files.photoUrl, caption: mark }
    case 'document':
      return { message_type: 'document', media_url: files.documentUrl, caption: mark, filename: 'invoice.pdf' }
    case 'reaction':
      return { message_type: 'reaction', reaction: { message_id: mark, emoji: EMOJI } }
  }
}

function pick<Item>(items: readonly Item[], random: Random): Item {
  return items[Math.floor(random() * items.length)] as Item
}
