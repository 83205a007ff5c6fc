import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const readsEnvironment = /\bprocess\.env\b|\bprocess\[|from '(node:)?process'/
const readsMachineClock = /\bnew Date\(\)|\bDate\.now\(\)/

/** The files of the folders whose text matches. */
async function filesMatching(pattern: RegExp, ...folders: string[]): Promise<string[]> {
  const found: string[] = []
  for (const folder of folders) {
    const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.ts'))
    const paths = names.map((name) => join(folder, name))
    const texts = await Promise.all(paths.map((path) => readFile(path, 'utf8')))
    found.push(...paths.filter((_, index) => pattern.test(texts[index] ?? '')))
  }
  return found
}

it('the environment is read in one place only', async () => {
  expect(await filesMatching(readsEnvironment, 'src', 'simulator')).toEqual(['src/main.ts'])
})

it('the layers that decide about time ask the clock of their context', async () => {
  const folders = ['core', 'jobs', 'interfaces', 'channels', 'storage', 'model']
  expect(await filesMatching(readsMachineClock, ...folders.map((name) => join('src', name)))).toEqual([])
})
