import { readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { EVENT_KINDS } from '../../../src/model/webhooks/webhook.js'
import { chromiumPath } from '../../support/chromium.js'
import { patience } from '../../support/patience.js'
import { IS_LONG } from '../../support/times.js'
import { succeed } from '../support/service.js'
import { complaintsBut401, type Stage, seriousFindings, startStage } from './stage.js'

type StorageState = Awaited<ReturnType<ReturnType<Page['context']>['storageState']>>
type Viewer = 'guest' | 'newcomer' | 'owner'

/** A page to look at. `ready`: an element that is there once the page is complete, in any language. */
interface Sight {
  name: string
  viewer: Viewer
  path: () => string
  ready: (page: Page) => Locator
}

const PASSWORD = 'correct horse battery'
const RITA = '5511900007777'
const UNREACHABLE = '5511900000001'
const WIDTHS = [1280, 360]
const HEIGHT = 800
const SCHEMES = ['light', 'dark'] as const

/** Each width and each scheme once; both with both take twice as long. */
const schemesAt = (width: number) => (IS_LONG ? SCHEMES : [SCHEMES[WIDTHS.indexOf(width)] ?? 'light'])

/** In the text of the conversation's last message. */
const LAST = 'https://shop.example'
/** An endpoint that refuses connections. */
const CLOSED = 'http://127.0.0.1:9/hook'

const RAW_KEY = /^[a-z]+(\.[a-zA-Z_]+)+$/
/** Names that are the same in every language. */
const PROPER = new Set<string>([...EVENT_KINDS, 'webhook.test'])

describe.skipIf(chromiumPath === null)('the looks of the page', () => {
  let stage: Stage
  const states = new Map<Viewer, StorageState | undefined>()
  let filled: Awaited<ReturnType<typeof fill>>

  beforeAll(async () => {
    stage = await startStage()
    const page = await stage.openSignedIn('/inbox')
    // With a password, pages do not ask for one.
    const answer = await page.request.put('/console/api/session/password', { data: { new_password: PASSWORD } })
    expect(answer.status()).toBe(200)
    filled = await fill(stage, page)
    states.set('owner', await cookiesOf(page))
    states.set('newcomer', await signInNewcomer(stage))
  })

  afterAll(async () => {
    await stage?.close()
    expect(complaintsBut401(stage)).toEqual([])
  })

  const sights: Sight[] = [
    { name: 'signing in', viewer: 'guest', path: () => '/inbox', ready: (page) => page.getByRole('textbox').nth(1) },
    {
      name: 'signing in by a link',
      viewer: 'guest',
      path: () => '/sign-in#token',
      ready: (page) => page.getByRole('link'),
    },
    {
      name: 'an inbox without conversations',
      viewer: 'newcomer',
      path: () => '/inbox',
      ready: (page) => page.getByRole('main').getByRole('button').first(),
    },
    {
      name: 'the inbox',
      viewer: 'owner',
      path: () => '/inbox',
      ready: (page) => page.getByRole('listitem').filter({ hasText: 'Rita' }),
    },
    {
      name: 'a conversation',
      viewer: 'owner',
      path: () => `/inbox/${filled.contactId}`,
      ready: (page) => page.getByRole('article').filter({ hasText: LAST }),
    },
    {
      name: 'a message',
      viewer: 'owner',
      path: () => `/messages/${filled.messageId}`,
      ready: (page) => page.getByRole('main').getByRole('listitem').nth(4),
    },
    {
      name: 'no broadcasts',
      viewer: 'newcomer',
      path: () => '/broadcasts',
      ready: (page) => page.getByRole('main').getByRole('link').first(),
    },
    {
      name: 'a new broadcast without a number',
      viewer: 'newcomer',
      path: () => '/broadcasts/new',
      ready: (page) => page.locator('a[href$="/settings/number"]'),
    },
    {
      name: 'the broadcasts',
      viewer: 'owner',
      path: () => '/broadcasts',
      ready: (page) => page.getByRole('link', { name: 'Spring sale' }),
    },
    {
      name: 'a new broadcast',
      viewer: 'owner',
      path: () => '/broadcasts/new',
      ready: (page) => page.getByRole('combobox'),
    },
    {
      name: 'a broadcast',
      viewer: 'owner',
      path: () => `/broadcasts/${filled.broadcastId}`,
      ready: (page) => page.getByRole('row', { name: new RegExp(UNREACHABLE) }),
    },
    {
      name: 'the templates',
      viewer: 'owner',
      path: () => '/templates',
      ready: (page) => page.getByRole('row', { name: /hello_world/ }),
    },
    {
      name: 'a new template',
      viewer: 'owner',
      path: () => '/templates/new',
      ready: (page) => page.locator('textarea').first(),
    },
    {
      name: 'a template that is edited',
      viewer: 'owner',
      path: () => '/templates/edit?name=oferta_da_semana&language=pt_BR',
      ready: (page) => page.locator('textarea').first(),
    },
    {
      name: 'the library of templates',
      viewer: 'owner',
      path: () => '/templates/library',
      ready: (page) => page.getByText('parcel_on_its_way'),
    },
    {
      name: 'analytics',
      viewer: 'owner',
      path: () => '/analytics',
      ready: (page) => page.getByRole('link', { name: 'Spring sale' }),
    },
    section('organization', (page) => page.getByRole('textbox').first()),
    section('team', (page) => page.getByText('nina@demo.example')),
    section('number', (page) => page.getByRole('textbox').first()),
    section('instances', (page) => page.getByRole('heading', { name: 'counter', exact: true })),
    section('storefront', (page) => page.getByRole('textbox').first()),
    section('keys', (page) => page.getByText(/^parley_/).first()),
    section('webhooks', (page) => page.getByText(CLOSED)),
    {
      ...section('webhooks', (page) => page.getByText('webhook.test')),
      name: 'a webhook',
      path: () => `/settings/webhooks/${filled.webhookId}`,
    },
    { name: 'nothing', viewer: 'owner', path: () => '/nowhere', ready: (page) => page.getByRole('main') },
  ]

  const cases = sights.map((sight) => [sight.name, sight] as const)

  const pages = new Map<string, Page>()

  /** One for each viewer and language: a new one reads and compiles the scripts anew. */
  const pageOf = async (viewer: Viewer, locale: string) => {
    const known = pages.get(`${viewer} ${locale}`)
    if (known) return known
    const storageState = states.get(viewer)
    const page = await stage.open({ locale, ...(storageState && { storageState }) })
    pages.set(`${viewer} ${locale}`, page)
    return page
  }

  const open = async ({ viewer, path, ready }: Sight, locale = 'en-GB') => {
    const page = await pageOf(viewer, locale)
    await page.goto(`/console${path()}`)
    await ready(page).waitFor()
    await expectLoaded(page)
    return page
  }

  it.each(cases)('%s: accessible, in light and dark, wide and narrow', async (_, sight) => {
    const page = await open(sight)
    const faults: string[] = []
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: HEIGHT })
      await sight.ready(page).waitFor()
      await expectLoaded(page)
      expect(await page.getByRole('heading', { level: 1 }).count(), `headings of the first level at ${width}`).toBe(1)
      expect(await page.title()).toMatch(/\S · Parley$/)
      await expect.poll(() => page.evaluate(WIDER), { message: `what is too wide at ${width}` }).toEqual([])
      for (const colorScheme of schemesAt(width)) {
        await page.emulateMedia({ colorScheme })
        await expect.poll(() => page.evaluate(SCHEME)).toBe(colorScheme)
        const found = await seriousFindings(page)
        faults.push(...found.map((finding) => `${colorScheme}, ${width}: ${finding}`))
      }
    }
    expect(faults).toEqual([])
  })

  it.each(cases)('%s: entirely in Portuguese', async (_, sight) => {
    const english = await englishTexts()
    const page = await open(sight, 'pt-BR')
    const shown = (await page.evaluate(TEXTS)) as string[]
    expect(await page.locator('html').getAttribute('lang')).toBe('pt-BR')
    expect(shown.length).toBeGreaterThan(3)
    expect(shown.filter((text) => RAW_KEY.test(text) && !PROPER.has(text))).toEqual([])
    expect(shown.filter((text) => english.has(text))).toEqual([])
    if (sight.viewer !== 'guest') expect(shown).toEqual(expect.arrayContaining(['Conversas', 'Campanhas']))
  })
})

function section(name: string, ready: Sight['ready']): Sight {
  return { name: `settings: ${name}`, viewer: 'owner', path: () => `/settings/${name}`, ready }
}

/** Waits until nothing is loading. */
async function expectLoaded(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor()
  const waiting = page.getByRole('status', { name: /^(Loading|Carregando)/ })
  await expect.poll(() => waiting.count()).toBe(0)
}

/** The colour scheme of the page. */
const SCHEME = 'getComputedStyle(document.documentElement).colorScheme'

/** Elements that overflow to the right, apart from those that are meant to scroll. */
const WIDER = `(() => {
  const found = []
  const root = document.documentElement
  if (root.scrollWidth > innerWidth) found.push('the page: ' + root.scrollWidth)
  for (const element of document.body.querySelectorAll('*')) {
    const isScrolled = ['auto', 'scroll'].includes(getComputedStyle(element).overflowX)
    const isMeant = element.tabIndex >= 0 || element.matches('input, textarea, pre, code')
    if (isScrolled && !isMeant && element.scrollWidth > element.clientWidth + 1) {
      found.push(element.tagName + ' ' + element.className + ': ' + element.scrollWidth + ' in ' + element.clientWidth)
    }
  }
  return found
})()`

/** All texts of the page, visible or for screen readers. */
const TEXTS = `(() => {
  const texts = [document.title.replace(' · Parley', '')]
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (walker.nextNode()) if (walker.currentNode.parentElement.closest('script, style') === null) texts.push(walker.currentNode.data)
  for (const element of document.body.querySelectorAll('*')) {
    for (const name of ['aria-label', 'placeholder', 'title', 'alt', 'aria-roledescription']) texts.push(element.getAttribute(name) ?? '')
  }
  return texts.map((text) => text.trim()).filter((text) => text !== '')
})()`

/** The English texts of the page that differ in Portuguese. */
async function englishTexts(): Promise<Set<string>> {
  const folder = fileURLToPath(new URL('../../../console/src/i18n', import.meta.url))
  const files = await readdir(`${folder}/en`)
  const read = async (language: string) => {
    const modules = await Promise.all(files.map((file) => import(`${folder}/${language}/${file}`)))
    return modules.flatMap((module) => leavesOf({ ...module }))
  }
  const portuguese = new Set(await read('pt'))
  return new Set((await read('en')).filter((text) => !text.includes('{{') && !portuguese.has(text)))
}

function leavesOf(texts: object): string[] {
  return Object.values(texts).flatMap((text) => (typeof text === 'string' ? [text] : leavesOf(text)))
}

/** Cookies only, without local storage such as the language. */
async function cookiesOf(page: Page): Promise<StorageState> {
  const { cookies } = await page.context().storageState()
  await page.context().close()
  return { cookies, origins: [] }
}

/** Signs in the owner of a new organization without any data. */
async function signInNewcomer(stage: Stage): Promise<StorageState> {
  const { organization } = (await succeed(stage.admin('POST', '/organizations', { name: 'New shop', slug: 'new' })))
    .body
  const email = 'owner@new.example'
  const member = { email, full_name: 'Nelson Novo', role: 'owner', password: PASSWORD }
  await succeed(stage.admin('POST', `/organizations/${organization.id}/members`, member))
  const page = await stage.open()
  await page.request.post('/console/api/session', { data: { organization: 'new', email, password: PASSWORD } })
  return cookiesOf(page)
}

/** Fills the demo organization with data of every kind. `page`: signed in as its owner. */
async function fill(
  stage: Stage,
  page: Page,
): Promise<{ contactId: string; messageId: string; broadcastId: string; webhookId: string }> {
  const ask = async (method: string, path: string, data?: unknown) => {
    const answer = await page.request.fetch(`/console/api${path}`, { method, data })
    if (!answer.ok()) throw new Error(`${method} ${path}: ${answer.status()} ${await answer.text()}`)
    return answer.json()
  }
  const { webhook } = await ask('POST', '/set-webhooks', {
    url: CLOSED,
    events: ['broadcast.completed', 'message.sent'],
  })
  await ask('POST', `/set-webhooks/${webhook.id}/test`)
  await ask('POST', '/team', { full_name: 'Nina Numbers', email: 'nina@demo.example', role: 'analyst' })
  await ask('POST', '/instances', { name: 'counter', kind: 'sandbox' })
  await ask('POST', '/instances', { name: 'second-counter', kind: 'sandbox' })
  await ask('POST', '/instances/counter/connect', {})
  await ask('POST', '/instances/counter/scan', {})

  const { broadcast } = await ask('POST', '/broadcasts', {
    name: 'Spring sale',
    templateName: 'oferta_da_semana',
    bodyParameters: { name: '{{first_name}}', discount: '20%' },
    buttonParameters: { param1: 'spring' },
    audience: { recipients: [RITA, UNREACHABLE, '5511900000006', 'no number'].map((chatNumber) => ({ chatNumber })) },
  })
  await vi.waitFor(
    async () => expect((await ask('GET', `/broadcasts/${broadcast.id}`)).broadcast.status).toBe('completed'),
    patience,
  )
  const { messages } = (await succeed(stage.sim('GET', `/messages?to=${RITA}`))).body
  const context = { from: messages[0].payload.to, id: messages[0].id }
  await stage.receive({ from: RITA, name: 'Rita Lima', type: 'button', button: QUICK_REPLY, context })
  for (const message of OF_ALL_KINDS) await stage.receive({ from: RITA, ...message })
  const { contact } = await ask('GET', `/contact?chat_id=${RITA}`)
  await ask('POST', `/contacts/${contact.id}/notes`, { text: 'She is a regular' })
  const sent = await ask('POST', '/send-chat', { phone_number: RITA, message_type: 'text', text: 'Here it is' })
  await stage.receive({ from: RITA, type: 'text', text: { body: `See ${LAST}` } })
  const { trace } = await ask('GET', `/messages/${encodeURIComponent(sent.data.message_id)}/trace`)
  return { contactId: contact.id, messageId: trace.message_id, broadcastId: broadcast.id, webhookId: webhook.id }
}

const QUICK_REPLY = { payload: 'Quero saber mais', text: 'Quero saber mais' }

const OF_ALL_KINDS = [
  { type: 'text', text: { body: 'Is it *still* _there_? ~No~ `yes`\n> said she' } },
  { type: 'image', image: { caption: 'This one' } },
  { type: 'video' },
  { type: 'audio' },
  { type: 'document' },
  { type: 'sticker' },
  { type: 'location', location: { latitude: -23.55, longitude: -46.63, name: 'Shop', address: 'Rua Augusta 1' } },
  {
    type: 'contacts',
    contacts: [{ name: { formatted_name: 'Bia Rocha', first_name: 'Bia' }, phones: [{ phone: '+55 11 90000-5555' }] }],
  },
  {
    type: 'order',
    order: {
      catalog_id: '1',
      text: 'Please',
      product_items: [{ product_retailer_id: 'shoe-1', quantity: 2, item_price: 99.5, currency: 'BRL' }],
    },
  },
  { type: 'unsupported', errors: [{ code: 131051, title: 'Message type unknown' }] },
]
