import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { expect, vi } from 'vitest'
import { launchChromium } from '../../support/chromium.js'
import { endPrograms, startProgram } from '../support/programs.js'
import { type Answer, call, makeFolder, succeed } from '../support/service.js'

/** A service as bin/up starts it, and a browser that looks at its page. */
export interface Stage {
  url: string
  /** The one-time link that was printed. */
  link: string
  /** A page whose errors are kept; of a browser in which nobody is signed in. */
  open(options?: BrowserContextOptions): Promise<Page>
  /** The same, signed in as an owner, at this place below /console. */
  openSignedIn(place: string, options?: BrowserContextOptions): Promise<Page>
  /** What pages complained of so far: uncaught errors, and what they wrote to the console as errors. */
  complaints: string[]
  /** Interface A with the demo's key. */
  request(method: string, path: string, body?: unknown): Promise<Answer>
  /** The operator's API: path below /admin. */
  admin(method: string, path: string, body?: unknown): Promise<Answer>
  /** The simulator's control: path below /_sim. */
  sim(method: string, path: string, body?: unknown): Promise<Answer>
  /** A customer writes to the demo organization. */
  receive(message: { from: string; name?: string; type: string } & Record<string, unknown>): Promise<void>
  close(): Promise<void>
}

/** Who is signed in on the pages of a stage. */
const OWNER = {
  email: 'olga@journey.example',
  full_name: 'Olga Owner',
  role: 'owner',
  password: 'horse battery staple',
}

/** How long anything on the page is waited for. */
export const PATIENCE_MS = 10_000

const PATIENCE = { timeout: 60_000, interval: 20 }

/** Starts `parley up` in a folder of its own, and the browser. */
export async function startStage(): Promise<Stage> {
  const folder = await makeFolder()
  const dataDir = join(folder.path, 'data')
  const env = {
    PARLEY_DATA_DIR: dataDir,
    PARLEY_PORT: '0',
    PARLEY_UPSTREAM_URL: 'sandbox',
    PARLEY_ALLOWED_PRIVATE_HOSTS: '127.0.0.0/8,::1',
  }
  const program = await startProgram(['up'], { env })
  const url = (await program.firstLine).slice('parley ready on '.length)
  await vi.waitFor(() => expect(program.output.at(-1)).toMatch(/^Ctrl-C/), PATIENCE)
  const printed = program.output.join('\n')
  const key = /API key +(\S+)/.exec(printed)?.[1] ?? ''
  const link = /(\S+\/console\/sign-in#\S+)/.exec(printed)?.[1] ?? ''
  const { PARLEY_ADMIN_TOKEN: adminToken } = JSON.parse(await readFile(join(dataDir, 'secrets.json'), 'utf8'))
  const admin: Stage['admin'] = (method, path, body) => call(`${url}/admin${path}`, method, { key: adminToken, body })
  const sim: Stage['sim'] = (method, path, body) => call(`${url}/_sim${path}`, method, { key: adminToken, body })
  const browser = await launchChromium()
  const complaints: string[] = []
  const phoneNumberId = await numberOf(sim)
  return {
    url,
    link,
    complaints,
    admin,
    sim,
    open: (options) => openPage(browser, url, complaints, options),
    openSignedIn: async (place, options) => {
      const page = await openPage(browser, url, complaints, options)
      await follow(page, await makeLink(admin))
      await page.goto(`/console${place}`)
      return page
    },
    request: (method, path, body) => call(`${url}${path}`, method, { key, body }),
    receive: async (message) => {
      await succeed(sim('POST', '/inbound', { phone_number_id: phoneNumberId, ...message }))
    },
    close: async () => {
      await browser.close()
      await endPrograms()
      await folder.remove()
    },
  }
}

/** Uses the one-time link of a member who has no password yet, and is asked for one. */
export async function signIn(page: Page, link: string): Promise<void> {
  await follow(page, link)
  await page.getByRole('dialog').getByRole('button', { name: 'Later' }).click()
}

async function follow(page: Page, link: string): Promise<void> {
  await page.goto(link)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('navigation').first().waitFor()
}

/** What pages complained of; the browser itself tells of what was refused because nobody was signed in yet. */
export function complaintsBut401(stage: Stage | undefined): string[] {
  return (stage?.complaints ?? []).filter((complaint) => !complaint.includes('401 (Unauthorized)'))
}

/** What axe finds on the page that is serious or worse, in words; animations are let end first. */
export async function seriousFindings(page: Page): Promise<string[]> {
  const source = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
  await page.evaluate('Promise.all(document.getAnimations().map((animation) => animation.finished.catch(() => 0)))')
  await page.evaluate(source)
  const { violations } = (await page.evaluate('axe.run()')) as {
    violations: { id: string; impact: string; help: string; nodes: { target: string[]; failureSummary: string }[] }[]
  }
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, help, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id} (${help}) at ${target.join(' ')}: ${failureSummary}`),
    )
}

async function openPage(
  browser: Browser,
  baseURL: string,
  complaints: string[],
  options: BrowserContextOptions = {},
): Promise<Page> {
  const context = await browser.newContext({
    baseURL,
    locale: 'en-GB',
    timezoneId: 'America/Sao_Paulo',
    viewport: { width: 1280, height: 800 },
    reducedMotion: 'reduce',
    ...options,
  })
  context.setDefaultTimeout(PATIENCE_MS)
  const page = await context.newPage()
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`${message.text()} (${message.location().url})`)
  })
  return page
}

/** Of an owner who has a password already, and so is asked for none. */
async function makeLink(admin: Stage['admin']): Promise<string> {
  const { organizations } = (await succeed(admin('GET', '/organizations'))).body
  const path = `/organizations/${organizations[0].id}/members`
  const { members } = (await succeed(admin('GET', path))).body
  const known = members.find(({ email }: { email: string }) => email === OWNER.email)
  const { id } = known ?? (await succeed(admin('POST', path, OWNER))).body.member
  return (await succeed(admin('POST', `/members/${id}/sign-in-link`))).body.link.url
}

async function numberOf(sim: Stage['sim']): Promise<string> {
  const { numbers } = (await succeed(sim('GET', '/numbers'))).body
  return numbers[0].phone_number_id
}
