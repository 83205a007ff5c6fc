import { readdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const readsEnvironment = /\bprocess\.env\b|\bprocess\[|from '(node:)?process'/

async function filesReadingEnvironment(folder: string): Promise<string[]> {
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.ts'))
  const paths = names.map((name) => join(folder, name))
  const texts = await Promise.all(paths.map((path) => readFile(path, 'utf8')))
  return paths.filter((_, index) => readsEnvironment.test(texts[index] ?? ''))
}

it('the environment is read in one place only', async () => {
  const readers = [...(await filesReadingEnvironment('src')), ...(await filesReadingEnvironment('simulator'))]
  expect(readers).toEqual(['src/main.ts'])
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
