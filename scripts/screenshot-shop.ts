/** A service full of conversations, for screenshots. */
export interface Shop {
  url: string
  /** Signs the owner in once. */
  link: string
  /** The contact whose conversation is shown. */
  conversation: string
  broadcast: string
}

type Call = (method: string, path: string, body?: unknown, token?: string) => Promise<Answer>
// biome-ignore lint/suspicious/noExplicitAny: answers of several shapes, read once each
type Answer = any

const PEOPLE = [
  ['Beatriz Lima', '5511970001001', 'Do you ship to Recife?'],
  ['Carlos Mendes', '5521970001002', 'Great, thank you!'],
  ['Daniela Rocha', '5531970001003', 'Can I change the size of my order?'],
  ['Eduardo Alves', '5541970001004', 'I paid this morning, when will it leave?'],
  ['Fernanda Costa', '5551970001005', 'Perfect 👌'],
  ['Gabriel Souza', '5561970001006', 'Is the blue one still there?'],
  ['Helena Martins', '5571970001007', 'Obrigada!'],
  ['Igor Barbosa', '5581970001008', 'The parcel has arrived, all fine.'],
  ['Juliana Freitas', '5585970001009', 'Do you have a shop in São Paulo?'],
] as const
const MARINA = { name: 'Marina Teixeira', number: '5511970001000' }
const OFFER = {
  templateName: 'oferta_da_semana',
  bodyParameters: { name: '{{first_name}}', discount: '20%' },
  buttonParameters: { param1: 'spring' },
}
const RECIPIENTS = 240
const PAUSE_MS = 100

/** Fills the demo organization of a service that `parley up` has just started. */
export async function fillShop({ printed, adminToken }: { printed: string; adminToken: string }): Promise<Shop> {
  const url = /parley ready on (\S+)/.exec(printed)?.[1] ?? ''
  const key = /API key +(\S+)/.exec(printed)?.[1] ?? ''
  const link = /(\S+\/console\/sign-in#\S+)/.exec(printed)?.[1] ?? ''
  const call: Call = async (method, path, body, token = key) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    })
    const answer = await response.json()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`)
    return answer
  }
  const { numbers } = await call('GET', '/_sim/numbers', undefined, adminToken)
  const receive = (from: string, name: string, message: object) => {
    const body = { phone_number_id: numbers[0].phone_number_id, from, name, ...message }
    return call('POST', '/_sim/inbound', body, adminToken)
  }
  const broadcast = await runBroadcast(call, receive)
  for (const [name, number, text] of PEOPLE) await receive(number, name, { type: 'text', text: { body: text } })
  await talk(call, receive)
  await makeInstance(url, key)
  const { contact } = await call('GET', `/contact?chat_id=${MARINA.number}`)
  return { url, link, conversation: contact.id, broadcast }
}

async function runBroadcast(
  call: Call,
  receive: (from: string, name: string, message: object) => Promise<Answer>,
): Promise<string> {
  const recipients = Array.from({ length: RECIPIENTS }, (_, index) => ({
    chatNumber: numberEndingOf(index),
    name: `Customer ${index + 1}`,
  }))
  const { broadcast } = await call('POST', '/broadcasts', {
    name: 'Offer of the week',
    ...OFFER,
    audience: { recipients },
  })
  await untilTrue(async () => (await call('GET', `/broadcasts/${broadcast.id}`)).broadcast.status === 'completed')
  const page = await call('GET', `/broadcasts/${broadcast.id}/recipients?status=read&limit=60`)
  for (const [index, { chatNumber, contactName }] of page.recipients.entries()) {
    const text = index % 9 === 0 ? 'Parar' : 'Quero saber mais'
    await receive(chatNumber, contactName, { type: 'button', button: { text, payload: text } })
  }
  return broadcast.id
}

/** Most messages are delivered and read; some fail, and some are never read (docs/simulator.md). */
function numberEndingOf(index: number): string {
  const prefix = `55119${String(60 + Math.floor(index / 20)).padStart(2, '0')}`
  if (index % 24 === 3) return `${prefix}000001`
  if (index % 5 === 2) return `${prefix}000006`
  return `${prefix}${String(700_000 + index * 7)}`
}

async function talk(
  call: Call,
  receive: (from: string, name: string, message: object) => Promise<Answer>,
): Promise<void> {
  const { name, number } = MARINA
  await call('POST', '/contact', { phone_number: `+${number}`, full_name: name })
  const countMessages = async () =>
    (await call('GET', `/conversations?chatNumber=${number}&limit=1`)).pagination.totalMessages
  // What she says stands in the conversation before it is answered.
  const hear = async (message: { type: string } & Record<string, unknown>) => {
    const before = await countMessages()
    await receive(number, name, message)
    if (message.type !== 'reaction') await untilTrue(async () => (await countMessages()) > before)
  }
  const say = (message: object) => call('POST', '/send-chat', { phone_number: number, ...message })
  await hear({
    type: 'text',
    text: { body: 'Hi! I have seen the *linen dress* on your page. Does it come in size M?' },
  })
  await say({ message_type: 'text', text: 'Good morning Marina! It does: in sand, olive and blue.' })
  await hear({ type: 'image', image: { caption: 'This one?' } })
  const sent = await say({ message_type: 'text', text: 'Exactly. I can keep one aside for you until Friday.' })
  await hear({ type: 'reaction', reaction: { message_id: sent.data.message_id, emoji: '❤️' } })
  await say({
    message_type: 'interactive',
    interactive: {
      type: 'button',
      body: 'How would you like to have it?',
      footer: 'Delivery is free from R$ 200',
      buttons: [
        { id: 'delivery', title: 'Delivered' },
        { id: 'pickup', title: 'I come by' },
      ],
    },
  })
  await hear({
    type: 'interactive',
    interactive: { type: 'button_reply', button_reply: { id: 'pickup', title: 'I come by' } },
  })
  await say({
    message_type: 'location',
    location: { latitude: -23.5614, longitude: -46.6559, name: 'Demo shop', address: 'Av. Paulista 1578, São Paulo' },
  })
  await hear({ type: 'text', text: { body: 'Lovely, see you tomorrow at 3 👋' } })
  await call('PATCH', `/contact?chat_id=${number}`, { tags: ['vip', 'linen'], contact_summary: 'Picks the dress up.' })
}

async function makeInstance(url: string, key: string): Promise<void> {
  const made = await fetch(`${url}/gateway/instance/create`, {
    method: 'POST',
    headers: { apikey: key, 'content-type': 'application/json' },
    body: JSON.stringify({ instanceName: 'shop', integration: 'SANDBOX' }),
  })
  if (!made.ok) throw new Error(`the instance could not be made: ${made.status}`)
}

async function untilTrue(look: () => Promise<boolean>): Promise<void> {
  while (!(await look())) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
}
