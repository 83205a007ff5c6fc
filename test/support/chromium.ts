import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome']
const OTHER_PLACES = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
]

/** The browser of this machine, or the one that PARLEY_TEST_CHROMIUM names; null: what needs one is skipped, and the run says so. */
export const chromiumPath: string | null = findChromium()

/** What stands in place of the journeys through the page where there is no browser. */
export const NO_CHROMIUM =
  'No Chromium was found (PARLEY_TEST_CHROMIUM can name one): the journeys through the page are skipped'

/** Starts the browser without a window. Throws where there is none. */
export function launchChromium(): Promise<Browser> {
  if (chromiumPath === null) throw new Error(NO_CHROMIUM)
  // The browser's own sandbox does not work for root, as whom containers run.
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
