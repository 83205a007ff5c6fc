import { readdir, readFile } from 'node:fs/promises'
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
