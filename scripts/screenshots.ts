// Takes the pictures of docs/console.md: starts a sandbox in a temporary folder, fills it, and opens it with Chromium.
// npm run screenshots

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Browser, Page } from 'playwright-core'
import { packageRoot } from '../src/lib/files/package-root.js'
import { launchChromium } from '../test/support/chromium.js'
import { fillShop, type Shop } from './screenshot-shop.js'

const FOLDER = join(packageRoot(), 'docs', 'screenshots')
const WIDE = { width: 1440, height: 900 }
const PHONE = { width: 390, height: 844 }

/** A picture: its name, the path below /console, and how to show it. */
interface Shot {
  name: string
  place: string
  viewport?: typeof WIDE
  isDark?: boolean
  /** Done before the picture is taken. */
  prepare?: (page: Page) => Promise<void>
}

const folder = await mkdtemp(join(tmpdir(), 'parley-screenshots-'))
const main = join(packageRoot(), 'dist', 'src', 'main.js')
const service = spawn(process.execPath, [main, 'up'], {
  env: {
    PATH: process.env.PATH,
    PARLEY_DATA_DIR: join(folder, 'data'),
    PARLEY_PORT: '0',
    PARLEY_UPSTREAM_URL: 'sandbox',
    PARLEY_ALLOWED_PRIVATE_HOSTS: '127.0.0.0/8,::1',
  },
  stdio: ['ignore', 'pipe', 'inherit'],
})
const ended = once(service, 'exit')
let browser: Browser | null = null
try {
  const shop = await fillShop(await untilReady())
  browser = await launchChromium()
  await mkdir(FOLDER, { recursive: true })
  const state = await signIn(browser, shop)
  for (const shot of shots(shop)) await take(browser, shop, state, shot)
} finally {
  await browser?.close()
  service.kill('SIGTERM')
  await ended
  await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
}

function shots({ conversation, broadcast }: Shop): Shot[] {
  return [
    { name: 'inbox', place: `/inbox/${conversation}`, prepare: showMessages },
    { name: 'inbox-dark', place: `/inbox/${conversation}`, isDark: true, prepare: showMessages },
    { name: 'conversation-phone', place: `/inbox/${conversation}`, viewport: PHONE, prepare: showMessages },
    { name: 'broadcast', place: `/broadcasts/${broadcast}` },
    { name: 'instance-code', place: '/settings/instances', prepare: showCode },
  ]
}

async function showMessages(page: Page): Promise<void> {
  await page.getByRole('log').getByRole('article').last().waitFor()
}

async function showCode(page: Page): Promise<void> {
  await page
    .getByRole('button', { name: /^Connect/ })
    .first()
    .click()
  await page.getByRole('img', { name: /QR code/ }).waitFor()
}

async function take(
  browser: Browser,
  { url }: Shop,
  storageState: Awaited<ReturnType<typeof signIn>>,
  { name, place, viewport = WIDE, isDark = false, prepare }: Shot,
): Promise<void> {
  const context = await browser.newContext({
    baseURL: url,
    storageState,
    viewport,
    colorScheme: isDark ? 'dark' : 'light',
    locale: 'en-GB',
    timezoneId: 'America/Sao_Paulo',
    reducedMotion: 'reduce',
  })
  const page = await context.newPage()
  // The page keeps a stream open, so the network is never idle.
  await page.goto(`/console${place}`)
  await page.getByRole('heading', { level: 1 }).first().waitFor({ state: 'attached' })
  await page.getByRole('status', { name: 'Loading', exact: true }).first().waitFor({ state: 'detached' })
  await prepare?.(page)
  // Waits until all images are loaded.
  await page.evaluate('Promise.all(Array.from(document.images, (image) => image.decode().catch(() => 0)))')
  await page.screenshot({ path: join(FOLDER, `${name}.png`), animations: 'disabled' })
  await context.close()
}

async function signIn(browser: Browser, { url, link }: Shop) {
  const context = await browser.newContext({ baseURL: url, locale: 'en-GB' })
  const page = await context.newPage()
  await page.goto(link)
  await page.getByRole('button', { name: 'Sign in' }).click()
  // A member with a password is not asked to set one.
  await page.getByLabel(/^New password\W*$/).fill('for these pictures alone')
  await page.getByLabel('Confirm new password').fill('for these pictures alone')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  const state = await context.storageState()
  await context.close()
  return state
}

/** Collects the service's output until it is ready. */
async function untilReady(): Promise<{ printed: string; adminToken: string }> {
  const lines: string[] = []
  for await (const line of createInterface({ input: service.stdout })) {
    lines.push(line)
    if (line.startsWith('Ctrl-C')) break
  }
  const secrets = JSON.parse(await readFile(join(folder, 'data', 'secrets.json'), 'utf8'))
  return { printed: lines.join('\n'), adminToken: secrets.PARLEY_ADMIN_TOKEN }
}
