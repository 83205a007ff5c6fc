import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { expect, vi } from 'vitest'
import { launchChromium } from '../../support/chromium.js'
import { PATIENCE_MS, patience } from '../../support/patience.js'
import { endPrograms, startProgram } from '../support/programs.js'
import { type Answer, call, makeFolder, succeed } from '../support/service.js'

/** A service as bin/up starts it, with a browser. */
export interface Stage {
  url: string
  /** The printed one-time link. */
  link: string
  /** The upstream's id of the demo organization's number. */
  phoneNumberId: string
  /** Opens a page in a new browser context, signed out. Its errors are recorded. */
  open(options?: BrowserContextOptions): Promise<Page>
  /** The same, signed in as an owner, at a path under /console. */
  openSignedIn(place: string, options?: BrowserContextOptions): Promise<Page>
  /** Uncaught errors and console errors of all pages so far. */
  complaints: string[]
  /** A request to the API with the demo's key. */
  request(method: string, path: string, body?: unknown): Promise<Answer>
  /** A request to the admin API: `path` under /admin. */
  admin(method: string, path: string, body?: unknown): Promise<Answer>
  /** A request to the simulator's control API: `path` under /_sim. */
  sim(method: string, path: string, body?: unknown): Promise<Answer>
  /** Sends a message from a customer to the demo organization. */
  receive(message: { from: string; name?: string; type: string } & Record<string, unknown>): Promise<void>
  close(): Promise<void>
}

/** The owner who is signed in. */
const OWNER = {
  email: 'olga@journey.example',
  full_name: 'Olga Owner',
  role: 'owner',
  password: 'horse battery staple',
}

/** Starts `parley up` in a new folder, and the browser. */
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
  await vi.waitFor(() => expect(program.output.at(-1)).toMatch(/^Ctrl-C/), patience)
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
    phoneNumberId,
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

/** Signs in with the one-time link of a member without a password, and postpones choosing one. */
export async function signIn(page: Page, link: string): Promise<void> {
  await follow(page, link)
  await page.getByRole('dialog').getByRole('button', { name: 'Later' }).click()
}

async function follow(page: Page, link: string): Promise<void> {
  await page.goto(link)
  await page.getByRole('button', { name: /^(Sign in|Entrar)$/ }).click()
  await page.getByRole('navigation').first().waitFor()
}

/** The errors of all pages, without those for requests before signing in. */
export function complaintsBut401(stage: Stage | undefined): string[] {
  return (stage?.complaints ?? []).filter((complaint) => !complaint.includes('401 (Unauthorized)'))
}

/** Findings of axe that are serious or worse, after all animations have ended. */
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

/** A sign-in link of an owner who has a password, so that the page does not ask for one. */
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
