import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { chromiumPath } from '../../support/chromium.js'
import { patience } from '../../support/patience.js'
import { succeed } from '../support/service.js'
import { complaintsBut401, type Stage, startStage } from './stage.js'

const RITA = '5511900007777'
const LANGUAGES = ['en-GB', 'pt-BR'] as const

/** What is received, and what the page shows of it in each language. */
const KINDS: [message: { type: string } & Record<string, unknown>, english: string, portuguese: string][] = [
  [
    { type: 'text', text: { body: 'How much?' }, context: { referred_product: { product_retailer_id: 'shoe-1' } } },
    'About the product shoe-1',
    'Sobre o produto shoe-1',
  ],
  [
    { type: 'text', text: { body: 'From the ad' }, referral: { source_type: 'ad', headline: 'Summer' } },
    'From an ad',
    'Veio de um anúncio',
  ],
  [{ type: 'text', text: { body: 'Look' }, context: { forwarded: true } }, 'Forwarded', 'Encaminhada'],
  [interactive('button_reply', { id: 'b', title: 'Yes please' }), 'Yes please', 'Yes please'],
  [interactive('list_reply', { id: 'r', title: 'Blue', description: 'As the sea' }), 'As the sea', 'As the sea'],
  [interactive('nfm_reply', { name: 'flow', body: 'Sent', response_json: '{"day":"Monday"}' }), 'Form', 'Formulário'],
  [
    interactive('call_permission_reply', { response: 'accept', is_permanent: true }),
    'You may call this customer.',
    'Você pode ligar para este cliente.',
  ],
  [
    interactive('call_permission_reply', { response: 'reject' }),
    'The customer does not want to be called.',
    'O cliente não quer receber ligações.',
  ],
  [{ type: 'order', order: { product_items: [{ product_retailer_id: 'mug', quantity: 2 }] } }, 'Order', 'Pedido'],
  [{ type: 'request_welcome' }, 'The customer opened this conversation.', 'O cliente abriu esta conversa.'],
  [
    { type: 'unsupported', unsupported: { type: 'poll_creation' }, errors: [{ code: 131_051 }] },
    'cannot be shown here: poll',
    'não pode ser mostrado aqui: enquete',
  ],
  [
    { type: 'unsupported', errors: [{ code: 131_060, title: 'This message is unavailable' }] },
    'If it comes, it appears here.',
    'Se ela chegar, aparece aqui.',
  ],
  [{ type: 'hologram', hologram: {} }, 'cannot be shown here: hologram', 'não pode ser mostrado aqui: hologram'],
  [
    { type: 'system', system: { type: 'customer_identity_changed', body: 'It changed', wa_id: RITA } },
    "The customer's security code has changed",
    'O código de segurança do cliente mudou',
  ],
]

function interactive(type: string, answer: object) {
  return { type: 'interactive', interactive: { type, [type]: answer } }
}

describe.skipIf(chromiumPath === null)('what customers send', () => {
  let stage: Stage
  const pages: Page[] = []

  beforeAll(async () => {
    stage = await startStage()
    for (const [message] of KINDS) await stage.receive({ from: RITA, name: 'Rita Lima', ...message })
    const contact = await vi.waitFor(
      async () => (await succeed(stage.request('GET', `/contact?chat_id=${RITA}`))).body.contact,
      patience,
    )
    for (const locale of LANGUAGES) {
      // So high that all messages are in the document.
      const options = { locale, viewport: { width: 1280, height: 3_000 } }
      pages.push(await stage.openSignedIn(`/inbox/${contact.id}`, options))
    }
  })

  afterAll(async () => {
    await stage?.close()
    expect(complaintsBut401(stage)).toEqual([])
  })

  const callback = (field: string, value: object) =>
    succeed(stage.sim('POST', '/callback', { phone_number_id: stage.phoneNumberId, field, value }))
  const timestamp = () => String(Math.floor(Date.now() / 1_000))
  /** Waits until the pages show the text, in English and in Portuguese. */
  const seeIn = async (where: (page: Page) => ReturnType<Page['getByRole']>, english: string, portuguese: string) => {
    for (const [n, text] of [english, portuguese].entries()) {
      const page = pages[n]
      if (page) await where(page).getByText(text).first().waitFor()
    }
  }
  const log = (page: Page) => page.getByRole('log')

  it('shows as what it is, in both languages', async () => {
    for (const [, english, portuguese] of KINDS) await seeIn(log, english, portuguese)
    for (const page of pages) expect(await log(page).textContent()).not.toContain('It changed')
  })

  it('a call that was missed is a line', async () => {
    await succeed(stage.sim('POST', '/call', { phone_number_id: stage.phoneNumberId, from: RITA }))
    await seeIn(log, 'Missed call', 'Chamada perdida')
  })

  it('a wish about marketing messages is a line with its words, and a fact of the contact', async () => {
    const wish = { wa_id: RITA, detail: 'No more, please', category: 'marketing_messages', value: 'stop' }
    const contacts = [{ wa_id: RITA, profile: { name: 'Rita Lima' } }]
    await callback('user_preferences', { contacts, user_preferences: [{ ...wish, timestamp: timestamp() }] })
    await seeIn(log, 'wants no more marketing messages', 'não quer mais mensagens de marketing')
    await seeIn(log, 'No more, please', 'No more, please')
    await seeIn((page) => page.getByRole('complementary'), 'in WhatsApp · “No more', 'no WhatsApp · “No more')
  })

  it('the editor warns while another app answers, also without a hand-over', async () => {
    const message = { from: RITA, id: 'wamid.standby', timestamp: timestamp(), type: 'text', text: { body: 'Hello?' } }
    const contacts = [{ wa_id: RITA, profile: { name: 'Rita Lima' } }]
    await callback('standby', { standby: { contacts, messages: [message] } })
    await seeIn(log, 'another app answers this conversation from here on', 'a partir daqui')
    const warnings = ['another app is answering this customer', 'outro aplicativo está respondendo a este cliente']
    for (const [n, warning] of warnings.entries()) await pages[n]?.getByText(warning).waitFor()
    const control = { previous_owner_role: 'ai_agent', metadata: 'wants a human' }
    const handover = { timestamp: timestamp(), type: 'control_passed', control_passed: control }
    await callback('messaging_handovers', {
      recipient: { phone_number_id: stage.phoneNumberId },
      sender: { phone_number: RITA },
      ...handover,
    })
    await seeIn(log, 'handed this conversation over to you', 'passou esta conversa a você')
    for (const [n, warning] of warnings.entries()) {
      await expect.poll(() => pages[n]?.getByText(warning).count()).toBe(0)
    }
  })

  it('a message that WhatsApp holds back shows as held', async () => {
    await succeed(stage.sim('POST', '/settings', { hold_templates: true }))
    const template = { templateName: 'pedido_enviado', language: 'pt_BR', bodyParameters: { 1: 'Rita', 2: '12' } }
    await succeed(stage.request('POST', '/send-template', { chatNumber: RITA, ...template }))
    await seeIn(log, 'WhatsApp holds this message back', 'O WhatsApp retém esta mensagem')
    for (const [n, name] of ['Held by WhatsApp', 'Retida pelo WhatsApp'].entries()) {
      const page = pages[n]
      if (page) await log(page).getByRole('img', { name }).waitFor()
    }
  })
})
