import { readdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
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

it('ARCHITECTURE.md lists the folders of core and storage in the order that the import rules have', async () => {
  const { forbidden }: { forbidden: { name: string }[] } = createRequire(import.meta.url)('../.dependency-cruiser.cjs')
  const page = await readFile('ARCHITECTURE.md', 'utf8')
  const [, list = ''] = /From\stop to bottom: (.*?)\n\n/s.exec(page) ?? []
  const listed = [...list.replaceAll(/\([^)]*\)/g, '').matchAll(/`(\w+)`/g)].map(([, folder]) => folder)
  const suffix = '-imports-only-folders-below'
  const ruled = forbidden.filter(({ name }) => name.endsWith(suffix)).map(({ name }) => name.slice(0, -suffix.length))
  expect(listed).toEqual(ruled)
})
