import { setTimeout } from 'node:timers/promises'
import type { Browser, Page } from 'playwright-core'
import { launchChromium } from '../../test/support/chromium.js'
import type { Child } from '../child.js'
import { numberOf } from '../data.js'
import { quantile } from '../measure.js'
import type { Run } from '../server.js'
import { call, startWorld, type World } from '../world.js'

/** Milliseconds, of `count` samples. */
export interface Times {
  count: number
  p50: number
  p95: number
  longest: number
}

/** Measurements of the page in a real browser, with 1,000,000 messages of 10,000 contacts. */
export interface ConsoleFigures {
  /** The sizes of the first load of the inbox, compressed, in kB of 1,000 bytes. */
  firstLoad: { scriptKb: number; styleKb: number }
  /** From opening the page, signed in, until the first contact shows. */
  openInboxMs: number
  /** From a click on a contact until the newest message of its conversation of 100,000 shows. */
  openThreadMs: number
  /** Time between frames while the conversation is scrolled upwards, `pixels` in total. */
  frames: Times & { pixels: number; over50: number }
  /** From the request to the simulator (POST /_sim/inbound) until the message shows in the open conversation. */
  shown: Times
  /** The same until the contact is at the top of the list, with another conversation open. */
  listed: Times
}

const MESSAGES = 100
/** The pause between two messages, so that all processes are idle when the next one arrives. */
const PAUSE_MS = 60
const PAGE_TIMEOUT_MS = 30_000
const PIXELS = 120_000
const PIXELS_PER_SECOND = 6_000
/** The contact with a tenth of all messages, and another one. */
const LONGEST = numberOf(0)
const OTHER = numberOf(1)

/** The list of contacts is ordered by it. */
const insertActivity = `
  INSERT INTO contact_activity (organization_id, contact_id, active_at)
  SELECT organization_id, id, coalesce(last_inbound_at, created_at) FROM contacts WHERE organization_id = $1
  ON CONFLICT DO NOTHING`

/** Measures the page in Chromium. Throws if it is not installed. */
export async function measureConsole(run: Run): Promise<ConsoleFigures> {
  const world = await startWorld(run)
  await world.database.query(insertActivity, [world.organization.id])
  const service = await world.startService()
  const browser = await launchChromium()
  run.add(() => browser.close())
  const storageState = await signIn(browser, service, world.organization.id)
  const context = await browser.newContext({ storageState, viewport: { width: 1280, height: 800 }, locale: 'en-GB' })
  context.setDefaultTimeout(PAGE_TIMEOUT_MS)
  const page = await context.newPage()
  const loaded = countBytes(page)

  const begun = performance.now()
  await page.goto(`${service.url}/console/inbox`)
  await page.getByRole('list', { name: 'Conversations' }).getByRole('link').first().waitFor()
  const openInboxMs = performance.now() - begun
  const { script, style } = await loaded()
  const firstLoad = { scriptKb: script / 1_000, styleKb: style / 1_000 }

  const openThreadMs = await openThread(page, service, world, LONGEST)
  const frames = await scroll(page)
  await openThread(page, service, world, OTHER)
  const shown = await timeMessages(page, world, OTHER)
  const listed = await timeMessages(page, world, LONGEST)
  await service.stop()
  return { firstLoad, openInboxMs, openThreadMs, frames, shown, listed }
}

async function signIn(browser: Browser, { url }: Child, organizationId: string) {
  // The member has a password, so that the page does not ask for one.
  const person = {
    email: 'owner@bench.example',
    full_name: 'Olga Owner',
    role: 'owner',
    password: 'horse battery staple',
  }
  const { member } = await call('POST', `${url}/admin/organizations/${organizationId}/members`, person)
  const { link } = await call('POST', `${url}/admin/members/${member.id}/sign-in-link`, {})
  const page = await browser.newPage({ locale: 'en-GB' })
  await page.goto(link.url)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('navigation').first().waitFor()
  const state = await page.context().storageState()
  await page.context().close()
  return state
}

function countBytes(page: Page): () => Promise<{ script: number; style: number }> {
  const sizes: Promise<{ kind: string; bytes: number }>[] = []
  page.on('response', (response) => {
    const kind = /\.(js|css)$/.exec(new URL(response.url()).pathname)?.[1]
    if (kind === undefined) return
    sizes.push(response.allHeaders().then((headers) => ({ kind, bytes: Number(headers['content-length']) })))
  })
  return async () => {
    const total = { script: 0, style: 0 }
    for (const { kind, bytes } of await Promise.all([...sizes])) total[kind === 'js' ? 'script' : 'style'] += bytes
    return total
  }
}

async function openThread(page: Page, { url }: Child, { organization }: World, number: string): Promise<number> {
  const { contact } = await call('GET', `${url}/contact?chat_id=${number}`, null, organization.key)
  // Navigates within the page, as a click on the contact does.
  const begun = performance.now()
  await page.evaluate(
    `history.pushState({}, '', '/console/inbox/${contact.id}'); dispatchEvent(new PopStateEvent('popstate'))`,
  )
  await page.getByRole('log').getByRole('article').last().waitFor()
  return performance.now() - begun
}

/** Scrolls as with a touchpad, and measures the time between frames. */
async function scroll(page: Page): Promise<ConsoleFigures['frames']> {
  await page.evaluate(`
    window.frames_ = []
    let last = performance.now()
    window.measuring_ = true
    requestAnimationFrame(function note(now) {
      window.frames_.push(now - last)
      last = now
      if (window.measuring_) requestAnimationFrame(note)
    })`)
  const { x, y, width, height } = (await page.getByRole('log').boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 }
  const session = await page.context().newCDPSession(page)
  const place = { x: x + width / 2, y: y + height / 2 }
  await session.send('Input.synthesizeScrollGesture', {
    ...place,
    yDistance: PIXELS,
    speed: PIXELS_PER_SECOND,
    gestureSourceType: 'mouse',
  })
  const times = (await page.evaluate('window.measuring_ = false, window.frames_')) as number[]
  return { ...timesOf(times), pixels: PIXELS, over50: times.filter((time) => time > 50).length }
}

/** Sends one message after the other; the page itself records when each one shows. */
async function timeMessages(page: Page, { sandboxUrl, organization }: World, from: string): Promise<Times> {
  const times: number[] = []
  for (let index = 0; index < MESSAGES; index++) {
    await setTimeout(PAUSE_MS)
    const body = `Message ${from} no. ${index}, to be seen at once`
    const seen = page.evaluate(`new Promise((resolve) => {
      const look = () => document.body.textContent.includes(${JSON.stringify(body)}) && resolve(Date.now())
      new MutationObserver(look).observe(document.body, { childList: true, subtree: true, characterData: true })
      look()
    })`) as Promise<number>
    const begun = Date.now()
    const message = { phone_number_id: organization.phoneNumberId, from, type: 'text', text: { body } }
    await call('POST', `${sandboxUrl}/_sim/inbound`, message)
    times.push((await seen) - begun)
  }
  return timesOf(times)
}

function timesOf(times: readonly number[]): Times {
  const sorted = Float64Array.from(times).sort()
  const at = (share: number) => quantile(sorted, share) ?? 0
  return { count: times.length, p50: at(0.5), p95: at(0.95), longest: sorted.at(-1) ?? 0 }
}
