import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome']
const OTHER_PLACES = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
]

/**
 * The browser of this machine, or PARLEY_TEST_CHROMIUM. If null, tests that need a browser are skipped, and the run
 * reports it.
 */
export const chromiumPath: string | null = findChromium()

/** The notice in place of the page's journeys if there is no browser. */
export const NO_CHROMIUM =
  'No Chromium was found (PARLEY_TEST_CHROMIUM can name one): the journeys through the page are skipped'

/** Starts the browser without a window. Throws if it is not installed. */
export function launchChromium(): Promise<Browser> {
  if (chromiumPath === null) throw new Error(NO_CHROMIUM)
  // The browser's sandbox does not work for root, which is the user in containers.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  return chromium.launch({ executablePath: chromiumPath, args })
}

function findChromium(): string | null {
  const named = process.env.PARLEY_TEST_CHROMIUM
  if (named !== undefined) return named
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '')
  const places = [...folders.flatMap((folder) => NAMES.map((name) => join(folder, name))), ...OTHER_PLACES]
  return places.find(isProgram) ?? null
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
